// Where the memory of a batch of searches is.
#pragma once

#include <cstdint>

#include "vamana/list_batch.h"

namespace vamana {

// Warps of a block that takes an item: as many as score 16 vectors at a time.
constexpr int kBatchItemWarps = 2;

// Warps of a block that searches an item from its beginning.
constexpr int kBatchRestWarps = 4;

struct BatchMemory {
  BatchControl* control;
  BatchRest* rest;
  uint64_t* left;  // addresses of the items of `rest`
  uint32_t* counts;
  uint32_t* starts;
  uint32_t* units;
  uint32_t* cursors;
  float* norms;
  BatchItem* items;
  float* queries;
  float* rotated;
  uint64_t* best;
  uint32_t* order;
  uint32_t* history;
  BatchCandidate* candidates;
  BatchPair* pairs;
  uint8_t* numbers;
  uint16_t* item_halves;
  uint16_t* list_halves;
  uint32_t* keys;
  uint32_t* nearest;

  __device__ __forceinline__ explicit BatchMemory(const ListBatch& batch) {
    const BatchLayout layout = list_batch_layout(batch);
    control = reinterpret_cast<BatchControl*>(batch.memory + layout.control);
    rest = reinterpret_cast<BatchRest*>(batch.rest);
    left = reinterpret_cast<uint64_t*>(rest + 1);
    counts = reinterpret_cast<uint32_t*>(batch.memory + layout.counts);
    starts = reinterpret_cast<uint32_t*>(batch.memory + layout.starts);
    units = reinterpret_cast<uint32_t*>(batch.memory + layout.units);
    cursors = reinterpret_cast<uint32_t*>(batch.memory + layout.cursors);
    norms = reinterpret_cast<float*>(batch.memory + layout.norms);
    items = reinterpret_cast<BatchItem*>(batch.memory + layout.items);
    queries = reinterpret_cast<float*>(batch.memory + layout.queries);
    rotated = reinterpret_cast<float*>(batch.memory + layout.rotated);
    best = reinterpret_cast<uint64_t*>(batch.memory + layout.best);
    order = reinterpret_cast<uint32_t*>(batch.memory + layout.order);
    history = reinterpret_cast<uint32_t*>(batch.memory + layout.history);
    candidates = reinterpret_cast<BatchCandidate*>(batch.memory + layout.candidates);
    pairs = reinterpret_cast<BatchPair*>(batch.memory + layout.pairs);
    numbers = reinterpret_cast<uint8_t*>(batch.memory + layout.numbers);
    item_halves = reinterpret_cast<uint16_t*>(batch.memory + layout.item_halves);
    list_halves = reinterpret_cast<uint16_t*>(batch.memory + layout.list_halves);
    keys = reinterpret_cast<uint32_t*>(batch.memory + layout.keys);
    nearest = reinterpret_cast<uint32_t*>(batch.memory + layout.nearest);
  }
};

__device__ __forceinline__ const Lists& batch_lists(const ListBatch& batch) {
  return *reinterpret_cast<const Lists*>(batch.segment + kListsOffset);
}

// Leaves an item to list_batch_rest, by one thread.
__device__ __forceinline__ void leave_to_rest(const ListBatch& batch, const BatchMemory& memory,
                                              uint32_t item) {
  const uint32_t place = atomicAdd(&memory.rest->count, 1u);
  memory.left[place] = item_address(batch.search, item);
  memory.items[item].ended = 1;
}

// Whether this wave searches the rest of the items' nearest lists.
__device__ __forceinline__ bool wave_of_pieces(const ListBatch& batch) { return batch.wave == 0; }

// Lists of an item in this wave, from `probed` on; 0 if it takes no part.
__device__ __forceinline__ uint32_t lists_in_wave(const ListBatch& batch, const BatchItem& item) {
  const uint32_t left = item.lists - item.probed;
  const uint32_t most = item.most < batch.wave ? item.most : batch.wave;
  return item.ended != 0 ? 0 : left < most ? left : most;
}

__device__ __forceinline__ uint32_t entries_of(const Lists& lists, uint32_t list) {
  return __ldg(reinterpret_cast<const uint32_t*>(lists.facts) + 4 * list);
}

// Pieces of the nearest list of an item in the wave of these.
__device__ __forceinline__ uint32_t pieces_left(const Lists& lists, const BatchItem& item,
                                                uint32_t nearest) {
  if (item.ended != 0 || item.lists < 2) {
    return 0;
  }
  const uint32_t entries = entries_of(lists, nearest);
  return (entries - batch_alone(entries) + kListBlock - 1) / kListBlock;
}

}  // namespace vamana
