// Estimates of the entries of a list for all items that search it: the bits of 16 entries times the residuals'
// numbers of 8 items, by tensor cores. The sums of integers are those that counting bits gives.
#pragma once

#include <cstdint>

#include "cta.cuh"
#include "list_batch/memory.cuh"
#include "tensor.cuh"
#include "vamana/order.h"

namespace vamana {

constexpr uint32_t kEstimateThreads = kEstimateWarps * 32;
constexpr uint32_t kEstimated = 32;        // entries of a warp at a time
constexpr uint32_t kTileColumns = kBatchTile / 8;
static_assert(kBatchOpen == kBatchFlush + kEstimated * kBatchTile, "room of a warp");
constexpr uint32_t kLowBits = 0x01010101u;

// More than list_estimate takes off a bound for rounding, so that nothing is lost by another order of sums.
constexpr float kBatchSlack = 1.2f * kListSlack;
constexpr float kBatchLimitSlack = 2e-6f;

// Of an item: an entry is looked at again if
// constant + factor * (step * product + shift) - error * margin <= open.
struct BatchTest {
  float open;
  float step;
  float shift;
  float margin;
};
static_assert(sizeof(BatchTest) == 16, "BatchTest");

__device__ __forceinline__ BatchTest batch_test(const BatchPair& pair) {
  const float base = pair.heads.base;
  return {pair.limit - base + kBatchSlack * magnitude(base) +
              kBatchLimitSlack * magnitude(pair.limit),
          pair.heads.step, -pair.heads.step * pair.heads.half, pair.heads.margin};
}

// What a block works on.
struct BatchUnit {
  uint32_t list;
  uint32_t from;   // entries from..to-1
  uint32_t to;
  uint32_t first;  // pairs
  uint32_t count;
};

__device__ __forceinline__ BatchUnit batch_unit(const BatchMemory& memory, const Lists& lists,
                                                uint32_t unit) {
  uint32_t low = 0;
  uint32_t size = lists.lists;
  // the last list that begins at this unit or before
  while (size > 1) {
    const uint32_t half = size / 2;
    if (memory.units[low + half] <= unit) {
      low += half;
      size -= half;
    } else {
      size = half;
    }
  }
  const uint32_t pairs = memory.starts[low + 1] - memory.starts[low];
  const uint32_t tiles = (pairs + kBatchTile - 1) / kBatchTile;
  const uint32_t within = unit - memory.units[low];
  const uint32_t entries = __ldg(reinterpret_cast<const uint32_t*>(lists.facts) + 4 * low);
  const uint32_t tile = within % tiles * kBatchTile;
  const uint32_t from = within / tiles * kBatchPart;
  return {low, from, from + kBatchPart < entries ? from + kBatchPart : entries,
          memory.starts[low] + tile, pairs - tile < kBatchTile ? pairs - tile : kBatchTile};
}

// An entry as a lane tests it.
struct BatchEntry {
  float constant;  // not a number beyond the list
  float factor;
  float error;
  uint32_t place;  // in its block
};

__device__ __forceinline__ BatchEntry batch_entry(const ListColumns& columns, uint32_t number,
                                                  uint32_t to) {
  const uint32_t at = number % kListBlock;
  const uint32_t place = at < columns.together ? at : 0;
  const float* facts = reinterpret_cast<const float*>(columns.numbers) + place;
  const float constant = __ldg(facts + columns.together);
  return {number < to ? constant - kBatchSlack * magnitude(constant) : bits_float(0x7FC00000u),
          __ldg(facts + 2 * columns.together), __ldg(facts + 3 * columns.together), place};
}

__device__ __forceinline__ bool stays_open(const BatchEntry& entry, const BatchTest& test,
                                           int32_t product) {
  const float inner = fmaf(test.step, static_cast<float>(product), test.shift);
  const float distance = fmaf(entry.factor, inner, entry.constant);
  return fmaf(-entry.error, test.margin, distance) <= test.open;
}

// Shared memory of a block.
struct BatchTileMemory {
  uint32_t* unit;
  BatchTest* tests;
  BatchPair* pairs;
  uint32_t* open;    // of each warp: what its tests have left open, see open_word
  uint8_t* numbers;

  __device__ __forceinline__ explicit BatchTileMemory(uint8_t* shared)
      : unit(reinterpret_cast<uint32_t*>(shared)),
        tests(reinterpret_cast<BatchTest*>(shared + 16)),
        pairs(reinterpret_cast<BatchPair*>(tests + kBatchTile)),
        open(reinterpret_cast<uint32_t*>(pairs + kBatchTile)),
        numbers(reinterpret_cast<uint8_t*>(open + kEstimateWarps * kBatchOpen)) {}
};

// A product, an entry's number in the part and an item's in the tile.
__device__ __forceinline__ uint32_t open_word(int32_t product, uint32_t entry, uint32_t item) {
  return static_cast<uint32_t>(product) << 16 | entry << 5 | item;
}
static_assert(kBatchPart <= 1u << 11 && kBatchTile <= 1u << 5, "open_word");

// Makes entries candidates of items if their estimates, computed as elsewhere, leave them open. For a warp.
__device__ __forceinline__ void add_candidates(const ListBatch& batch, const BatchMemory& memory,
                                               const Lists& lists, const BatchTileMemory& tile,
                                               const BatchUnit& unit, uint64_t address,
                                               uint32_t places, uint32_t count) {
  __syncwarp();
  const uint32_t* words = tile.open + warp_id() * kBatchOpen;
#pragma unroll 1
  for (uint32_t i = lane_id(); i < count; i += 32) {
    const uint32_t word = words[i];
    const BatchPair& pair = tile.pairs[word % kBatchTile];
    const uint32_t number = unit.from + (word >> 5 & (kBatchPart - 1));
    const int32_t product = static_cast<int32_t>(word) >> 16;
    const ListColumns columns =
        list_columns(lists, address, places, number / kListBlock * kListBlock);
    const float* facts =
        reinterpret_cast<const float*>(columns.numbers) + number % kListBlock;
    const ListEstimate estimate = list_estimate(
        pair.heads, product, __ldg(facts + columns.together), __ldg(facts + 2 * columns.together),
        __ldg(facts + 3 * columns.together));
    if (estimate.bound <= pair.limit) {
      const uint32_t slot = atomicAdd(&memory.items[pair.item].candidates, 1u);
      if (slot < batch.room) {
        memory.candidates[uint64_t{pair.item} * batch.room + slot] = {
            sortable(estimate.distance), number, estimate.bound, pair.place};
      }
    }
  }
  __syncwarp();
}

// Brings what is known of the items of a unit. Between barriers.
__device__ __forceinline__ void load_tile(const ListBatch& batch, const BatchMemory& memory,
                                          const BatchTileMemory& tile, const BatchUnit& unit) {
  if (threadIdx.x < kBatchTile) {
    BatchTest test = {-infinite(), 0, 0, 0};
    if (threadIdx.x < unit.count) {
      const BatchPair pair = memory.pairs[unit.first + threadIdx.x];
      tile.pairs[threadIdx.x] = pair;
      test = batch_test(pair);
    }
    tile.tests[threadIdx.x] = test;
  }
  const uint32_t stride = batch_number_stride(batch.padded);
  const uint32_t chunks = batch.padded / 16;
  const uint4* source =
      reinterpret_cast<const uint4*>(memory.numbers + uint64_t{unit.first} * batch.padded);
  for (uint32_t i = threadIdx.x; i < kBatchTile * chunks; i += kEstimateThreads) {
    const uint32_t item = i / chunks;
    const uint4 chunk = item < unit.count ? source[i] : uint4{0, 0, 0, 0};
    *reinterpret_cast<uint4*>(tile.numbers + item * stride + i % chunks * 16) = chunk;
  }
}

// Products of 32 entries and the items of a tile, for a warp: entries of 16 lie `group` and `group + 8` apart.
__device__ __forceinline__ void multiply_tile(const ListBatch& batch, const uint8_t* numbers,
                                              uint32_t columns, const ListColumns& block,
                                              const BatchEntry (&entries)[4],
                                              int32_t (&products)[2][kTileColumns][4]) {
  const uint32_t group = lane_id() / 4;
  const uint32_t t = lane_id() % 4;
  const uint32_t stride = batch_number_stride(batch.padded);
  const uint8_t* own = numbers + group * stride + t * 8;
  const uint2* words = reinterpret_cast<const uint2*>(block.words);
  // bits of the next components are on their way meanwhile
#pragma unroll 2
  for (uint32_t word = 0; word < batch.padded / 64; word++) {
    uint2 codes[4];
#pragma unroll
    for (int e = 0; e < 4; e++) {
      codes[e] = __ldg(words + word * block.together + entries[e].place);
    }
#pragma unroll
    for (int half = 0; half < 2; half++) {
      uint32_t a[2][4];
#pragma unroll
      for (int m = 0; m < 2; m++) {
        const uint32_t low = (half == 0 ? codes[2 * m].x : codes[2 * m].y) >> t;
        const uint32_t high = (half == 0 ? codes[2 * m + 1].x : codes[2 * m + 1].y) >> t;
        a[m][0] = low & kLowBits;
        a[m][1] = high & kLowBits;
        a[m][2] = low >> 4 & kLowBits;
        a[m][3] = high >> 4 & kLowBits;
      }
#pragma unroll
      for (uint32_t n = 0; n < kTileColumns; n++) {
        if (n < columns) {
          const uint2 b = *reinterpret_cast<const uint2*>(own + n * 8 * stride + word * 64 +
                                                          half * 32);
          multiply_signed(products[0][n], a[0], b.x, b.y);
          multiply_signed(products[1][n], a[1], b.x, b.y);
        }
      }
    }
  }
}

__device__ __forceinline__ void estimate_unit(const ListBatch& batch, const BatchMemory& memory,
                                              const Lists& lists, const BatchTileMemory& tile,
                                              const BatchUnit& unit) {
  const uint64_t address = list_address(lists, unit.list);
  const uint32_t places =
      list_places(__ldg(reinterpret_cast<const uint32_t*>(lists.facts) + 4 * unit.list));
  const uint32_t columns = (unit.count + 7) / 8;
  const uint32_t group = lane_id() / 4;
  const uint32_t t = lane_id() % 4;
  uint32_t* open = tile.open + warp_id() * kBatchOpen;
  uint32_t count = 0;
#pragma unroll 1
  for (uint32_t base = unit.from + warp_id() * kEstimated; base < unit.to;
       base += kEstimateThreads) {
    const ListColumns block =
        list_columns(lists, address, places, base / kListBlock * kListBlock);
    BatchEntry entries[4];
#pragma unroll
    for (uint32_t e = 0; e < 4; e++) {
      entries[e] = batch_entry(block, base + e * 8 + group, unit.to);
    }
    int32_t products[2][kTileColumns][4];
#pragma unroll
    for (int m = 0; m < 2; m++) {
#pragma unroll
      for (uint32_t n = 0; n < kTileColumns; n++) {
#pragma unroll
        for (int i = 0; i < 4; i++) {
          products[m][n][i] = 0;
        }
      }
    }
    multiply_tile(batch, tile.numbers, columns, block, entries, products);
#pragma unroll
    for (uint32_t n = 0; n < kTileColumns; n++) {
      if (n < columns) {
#pragma unroll
        for (uint32_t j = 0; j < 2; j++) {
          const uint32_t item = n * 8 + 2 * t + j;
          const BatchTest test = tile.tests[item];
          bool keep[4];
#pragma unroll
          for (uint32_t e = 0; e < 4; e++) {
            keep[e] = stays_open(entries[e], test, products[e / 2][n][e % 2 * 2 + j]);
          }
          // mostly there is none
          if (__any_sync(kAllLanes, keep[0] | keep[1] | keep[2] | keep[3])) {
#pragma unroll
            for (uint32_t e = 0; e < 4; e++) {
              const uint32_t kept = __ballot_sync(kAllLanes, keep[e]);
              if (keep[e]) {
                open[count + __popc(kept & lanes_below())] =
                    open_word(products[e / 2][n][e % 2 * 2 + j],
                              base - unit.from + e * 8 + group, item);
              }
              count += __popc(kept);
            }
          }
        }
      }
    }
    if (count >= kBatchFlush || base + kEstimateThreads >= unit.to) {
      add_candidates(batch, memory, lists, tile, unit, address, places, count);
      count = 0;
    }
  }
}

__device__ __forceinline__ void estimate_batch(const ListBatch& batch, uint8_t* shared) {
  const BatchMemory memory(batch);
  const Lists lists = batch_lists(batch);
  const BatchTileMemory tile(shared);
  const uint32_t units = memory.units[batch.lists];
  while (true) {
    if (threadIdx.x == 0) {
      *tile.unit = atomicAdd(&memory.control->next_unit, 1u);
    }
    __syncthreads();
    const uint32_t number = *tile.unit;
    if (number >= units) {
      return;
    }
    const BatchUnit unit = batch_unit(memory, lists, number);
    load_tile(batch, memory, tile, unit);
    __syncthreads();
    estimate_unit(batch, memory, lists, tile, unit);
    __syncthreads();
  }
}

}  // namespace vamana
