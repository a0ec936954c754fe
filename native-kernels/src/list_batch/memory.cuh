// Where the memory of a batch of searches is.
#pragma once

#include <cstdint>

#include "vamana/list_batch.h"

namespace vamana {

// Warps of a block that takes items one after the other.
constexpr int kBatchItemWarps = 4;

struct BatchMemory {
  BatchControl* control;
  uint64_t* rest;
  uint32_t* counts;
  uint32_t* starts;
  uint32_t* units;
  uint32_t* cursors;
  BatchItem* items;
  float* rotated;
  uint64_t* best;
  uint32_t* order;
  uint32_t* history;
  BatchCandidate* candidates;
  BatchPair* pairs;
  uint8_t* numbers;
  uint32_t* keys;

  __device__ __forceinline__ explicit BatchMemory(const ListBatch& batch) {
    const BatchLayout layout = list_batch_layout(batch);
    control = reinterpret_cast<BatchControl*>(batch.memory + layout.control);
    rest = reinterpret_cast<uint64_t*>(batch.memory + layout.rest);
    counts = reinterpret_cast<uint32_t*>(batch.memory + layout.counts);
    starts = reinterpret_cast<uint32_t*>(batch.memory + layout.starts);
    units = reinterpret_cast<uint32_t*>(batch.memory + layout.units);
    cursors = reinterpret_cast<uint32_t*>(batch.memory + layout.cursors);
    items = reinterpret_cast<BatchItem*>(batch.memory + layout.items);
    rotated = reinterpret_cast<float*>(batch.memory + layout.rotated);
    best = reinterpret_cast<uint64_t*>(batch.memory + layout.best);
    order = reinterpret_cast<uint32_t*>(batch.memory + layout.order);
    history = reinterpret_cast<uint32_t*>(batch.memory + layout.history);
    candidates = reinterpret_cast<BatchCandidate*>(batch.memory + layout.candidates);
    pairs = reinterpret_cast<BatchPair*>(batch.memory + layout.pairs);
    numbers = reinterpret_cast<uint8_t*>(batch.memory + layout.numbers);
    keys = reinterpret_cast<uint32_t*>(batch.memory + layout.keys);
  }
};

__device__ __forceinline__ const Lists& batch_lists(const ListBatch& batch) {
  return *reinterpret_cast<const Lists*>(batch.segment + kListsOffset);
}

// Lists of an item in this wave; 0 if it takes no part.
__device__ __forceinline__ uint32_t lists_in_wave(const ListBatch& batch, const BatchItem& item) {
  const uint32_t left = item.lists > batch.first ? item.lists - batch.first : 0;
  return item.ended != 0 ? 0 : left < batch.wave ? left : batch.wave;
}

}  // namespace vamana
