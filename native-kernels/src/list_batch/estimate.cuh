// Estimates of the entries of a list for all items that search it: the bits of 16 entries times the residuals'
// numbers of 8 items, by tensor cores. The sums are integers, the same as by counting bits.
#pragma once

#include <cstdint>

#include "cta.cuh"
#include "list_batch/memory.cuh"
#include "tensor.cuh"
#include "vamana/order.h"

namespace vamana {

constexpr uint32_t kEstimateThreads = kEstimateWarps * 32;
static_assert(kBatchTile == 32, "tiles of one to four times eight items");
constexpr uint32_t kLowBits = 0x01010101u;

// Sums begin with the bits of this float, of which an integer of few bits is the lowest ones: so the difference of
// two floats makes a float of a sum, at twice the rate of a conversion.
constexpr int32_t kSumBits = 0x4B400000;
constexpr float kSumFloat = 12582912.0f;

// Sums count as this much larger, so that no rounding excludes an entry: the product of a step and kSumFloat is a large
// number, and its rounding error is up to a step.
constexpr float kSumSlack = 2.0f;

// More than list_estimate takes off a bound for rounding, so that nothing is lost by another order of sums.
constexpr float kBatchSlack = 1.2f * kListSlack;
constexpr float kBatchLimitSlack = 2e-6f;

// Of an item: an entry is looked at again if
// constant + factor * (step * sum + shift) - error * margin <= open,
// where a sum is a product and kSumFloat.
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
          pair.heads.step, pair.heads.step * (kSumSlack - kSumFloat - pair.heads.half),
          pair.heads.margin};
}

// The work of a block.
struct BatchUnit {
  uint32_t list;
  uint32_t from;   // entries from..to-1
  uint32_t to;
  uint32_t first;  // pairs
  uint32_t count;
};

// By a warp, whose lanes look at 32 lists at a time.
__device__ __forceinline__ BatchUnit batch_unit(const BatchMemory& memory, const Lists& lists,
                                                uint32_t unit) {
  uint32_t low = 0;
  uint32_t size = lists.lists;
  // the last list that begins at this unit or before
  while (size > 1) {
    const uint32_t step = (size + 31) / 32;
    const uint32_t own = lane_id() * step;
    const bool before = own < size && memory.units[low + own] <= unit;
    const uint32_t last = (__popc(__ballot_sync(kAllLanes, before)) - 1) * step;
    low += last;
    size = size - last < step ? size - last : step;
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

// Entries of a warp: 32 of every 128 entries of a unit.
struct BatchScan {
  uint64_t address;  // of the list
  uint32_t places;
  uint32_t from;
};

__device__ __forceinline__ BatchScan batch_scan(const Lists& lists, const BatchUnit& unit) {
  return {list_address(lists, unit.list),
          list_places(__ldg(reinterpret_cast<const uint32_t*>(lists.facts) + 4 * unit.list)),
          unit.from + warp_id() * kEstimated};
}

// An entry as a lane tests it.
struct BatchEntry {
  float constant;  // not a number beyond the list
  float factor;
  float error;
};

__device__ __forceinline__ BatchEntry batch_entry(const float* facts, bool valid) {
  const float constant = facts[0];
  return {valid ? constant - kBatchSlack * magnitude(constant) : bits_float(0x7FC00000u),
          facts[kEstimated], facts[2 * kEstimated]};
}

__device__ __forceinline__ bool stays_open(const BatchEntry& entry, const BatchTest& test,
                                           int32_t product) {
  const float inner = fmaf(test.step, __int_as_float(product), test.shift);
  const float distance = fmaf(entry.factor, inner, entry.constant);
  return fmaf(-entry.error, test.margin, distance) <= test.open;
}

// Shared memory of a block.
struct BatchTileMemory {
  uint32_t* units;  // this one and the next, in turns
  BatchTest* tests;
  BatchPair* pairs;
  uint32_t* open;    // of each warp: what its tests have left open, see open_word
  uint8_t* stages;   // of each warp: entries, kEstimateStages times
  uint8_t* numbers;

  __device__ __forceinline__ BatchTileMemory(const ListBatch& batch, uint8_t* shared)
      : units(reinterpret_cast<uint32_t*>(shared)),
        tests(reinterpret_cast<BatchTest*>(shared + 16)),
        pairs(reinterpret_cast<BatchPair*>(tests + kBatchTile)),
        open(reinterpret_cast<uint32_t*>(pairs + kBatchTile)),
        stages(reinterpret_cast<uint8_t*>(open + kEstimateWarps * kBatchOpen)),
        numbers(stages + kEstimateWarps * kEstimateStages * batch_stage_bytes(batch.padded)) {}

  // Of this warp.
  __device__ __forceinline__ uint8_t* stage(const ListBatch& batch, uint32_t number) const {
    return stages + (warp_id() * kEstimateStages + number) * batch_stage_bytes(batch.padded);
  }
};

// A product, an entry's number in the part and an item's in the tile.
__device__ __forceinline__ uint32_t open_word(int32_t product, uint32_t entry, uint32_t item) {
  return static_cast<uint32_t>(product) << 16 | entry << 5 | item;
}
static_assert(kBatchPart <= 1u << 11 && kBatchTile <= 1u << 5, "open_word");

// Makes entries candidates of items if their estimates, computed as elsewhere, leave them open. For a warp.
__device__ __forceinline__ void add_candidates(const ListBatch& batch, const BatchMemory& memory,
                                               const Lists& lists, const BatchTileMemory& tile,
                                               const BatchUnit& unit, const BatchScan& scan,
                                               uint32_t count) {
  __syncwarp();
  const uint32_t* words = tile.open + warp_id() * kBatchOpen;
#pragma unroll 1
  for (uint32_t i = lane_id(); i < count; i += 32) {
    const uint32_t word = words[i];
    const BatchPair& pair = tile.pairs[word % kBatchTile];
    const uint32_t number = unit.from + (word >> 5 & (kBatchPart - 1));
    const int32_t product = static_cast<int32_t>(word) >> 16;
    const ListColumns columns =
        list_columns(lists, scan.address, scan.places, number / kListBlock * kListBlock);
    const float* facts =
        reinterpret_cast<const float*>(columns.numbers) + number % kListBlock;
    const ListEstimate estimate = list_estimate(
        pair.heads, product, __ldg(facts + columns.together), __ldg(facts + 2 * columns.together),
        __ldg(facts + 3 * columns.together));
    if (estimate.bound <= pair.limit && number >= pair.from) {
      const uint32_t piece = pair.from != 0 ? (number - pair.from) / kListBlock : 0;
      const uint32_t slot = atomicAdd(&memory.items[pair.item].candidates, 1u);
      if (slot < batch.room) {
        memory.candidates[uint64_t{pair.item} * batch.room + slot] = {
            sortable(estimate.distance), number, estimate.bound, pair.place + piece};
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

// Products of 32 entries' words of 64 components and the items of a tile, for a warp: entries of 16 lie `group` and
// `group + 8` apart. FIRST: begins the sums.
template <uint32_t COLUMNS, bool FIRST>
__device__ __forceinline__ void multiply_word(const uint2* words, const uint8_t* numbers,
                                              uint32_t stride,
                                              int32_t (&products)[2][COLUMNS][4]) {
  const uint32_t t = lane_id() % 4;
  uint2 codes[4];
#pragma unroll
  for (int e = 0; e < 4; e++) {
    codes[e] = words[e * 8];
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
    for (uint32_t n = 0; n < COLUMNS; n++) {
      const uint2 b = *reinterpret_cast<const uint2*>(numbers + n * 8 * stride + half * 32);
#pragma unroll
      for (int m = 0; m < 2; m++) {
        if (FIRST && half == 0) {
          begin_signed(products[m][n], kSumBits, a[m], b.x, b.y);
        } else {
          multiply_signed(products[m][n], a[m], b.x, b.y);
        }
      }
    }
  }
}

template <uint32_t COLUMNS>
__device__ __forceinline__ void multiply_tile(const ListBatch& batch, const uint8_t* numbers,
                                              const uint8_t* stage,
                                              int32_t (&products)[2][COLUMNS][4]) {
  const uint32_t group = lane_id() / 4;
  const uint32_t stride = batch_number_stride(batch.padded);
  const uint8_t* own = numbers + group * stride + lane_id() % 4 * 8;
  const uint2* words = reinterpret_cast<const uint2*>(stage) + group;
  multiply_word<COLUMNS, true>(words, own, stride, products);
#pragma unroll 1
  for (uint32_t word = 1; word < batch.padded / 64; word++) {
    multiply_word<COLUMNS, false>(words + word * kEstimated, own + word * 64, stride, products);
  }
}

// Where a lane finds its part of a warp's entries: 16 bytes of codes, again for each 64 components, and of
// constants, factors and errors. Places are those in blocks of kListBlock entries, which all but the last one are.
struct EntryFetch {
  uint64_t block;   // that holds the entries of the next turn
  uint32_t at;      // of the first of these in the block
  uint32_t stage;   // where the next turn's go, 0 to kEstimateStages - 1
  uint32_t base;    // number of the first of these in the list
};

__device__ __forceinline__ EntryFetch begin_fetch(const Lists& lists, const BatchScan& scan) {
  const uint32_t at = scan.from % kListBlock;
  return {scan.address + uint64_t{scan.from - at} * lists.head_bytes, at, 0, scan.from};
}

// Asks for a warp's entries of a block that has `together`.
__device__ __forceinline__ void fetch_entries(const EntryFetch& fetch, uint32_t together,
                                              uint32_t padded, uint8_t* stage) {
  const uint32_t place = fetch.at + lane_id() % 16 * 2;
  const uint32_t of_words = padded / 4;
  const uint8_t* words = reinterpret_cast<const uint8_t*>(fetch.block) +
                         kListNumberBytes * together +
                         8 * (lane_id() / 16 * together + place);
#pragma unroll 1
  for (uint32_t piece = lane_id(); piece < of_words; piece += 32) {
    if (place < together) {
      copy_to_shared(stage + piece * 16, words);
    }
    words += 16 * together;
  }
  const uint32_t row = lane_id() / 8 + 1;
  const uint32_t number = fetch.at + lane_id() % 8 * 4;
  if (row < 4 && number < together) {
    copy_to_shared(stage + (of_words + lane_id()) * 16,
                   reinterpret_cast<const uint8_t*>(fetch.block) + 4 * (row * together + number));
  }
}

// Asks for the entries of the next turn, if there is one.
__device__ __forceinline__ void fetch_turn(const ListBatch& batch, const Lists& lists,
                                           const BatchTileMemory& tile, const BatchUnit& unit,
                                           const BatchScan& scan, EntryFetch& fetch) {
  if (fetch.base < unit.to) {
    const uint32_t left = scan.places - (fetch.base - fetch.at);
    uint8_t* stage = tile.stage(batch, fetch.stage);
    if (left >= kListBlock) {
      fetch_entries(fetch, kListBlock, batch.padded, stage);
    } else {
      fetch_entries(fetch, left, batch.padded, stage);
    }
  }
  commit_copies();
  fetch.base += kEstimateThreads;
  fetch.at += kEstimateThreads;
  if (fetch.at >= kListBlock) {
    fetch.at -= kListBlock;
    fetch.block += uint64_t{kListBlock} * lists.head_bytes;
  }
  fetch.stage = fetch.stage + 1 == kEstimateStages ? 0 : fetch.stage + 1;
}

// By tiles of COLUMNS times eight items: instructions that are skipped cost as much as others.
template <uint32_t COLUMNS>
__device__ __forceinline__ void estimate_unit(const ListBatch& batch, const BatchMemory& memory,
                                              const Lists& lists, const BatchTileMemory& tile,
                                              const BatchUnit& unit, const BatchScan& scan,
                                              EntryFetch& fetch) {
  const uint32_t group = lane_id() / 4;
  const uint32_t t = lane_id() % 4;
  uint32_t* open = tile.open + warp_id() * kBatchOpen;
  uint32_t count = 0;
#pragma unroll 1
  for (uint32_t base = scan.from; base < unit.to; base += kEstimateThreads) {
    await_copies<kEstimateStages - 2>();
    __syncwarp();
    // the stage behind the next turn's, where the entries of the last turn have been looked at by all lanes
    const uint8_t* stage =
        tile.stage(batch, fetch.stage + 1 == kEstimateStages ? 0 : fetch.stage + 1);
    fetch_turn(batch, lists, tile, unit, scan, fetch);
    BatchEntry entries[4];
#pragma unroll
    for (uint32_t e = 0; e < 4; e++) {
      const uint32_t at = e * 8 + group;
      entries[e] = batch_entry(reinterpret_cast<const float*>(stage + kEstimated * batch.padded / 8) + at,
                               base + at < unit.to);
    }
    int32_t products[2][COLUMNS][4];
    multiply_tile<COLUMNS>(batch, tile.numbers, stage, products);
#pragma unroll
    for (uint32_t n = 0; n < COLUMNS; n++) {
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
                  open_word(products[e / 2][n][e % 2 * 2 + j] - kSumBits,
                            base - unit.from + e * 8 + group, item);
            }
            count += __popc(kept);
          }
        }
      }
    }
    if (count >= kBatchFlush || base + kEstimateThreads >= unit.to) {
      add_candidates(batch, memory, lists, tile, unit, scan, count);
      count = 0;
    }
  }
}

__device__ __forceinline__ void estimate_batch(const ListBatch& batch, uint8_t* shared) {
  const BatchMemory memory(batch);
  const Lists lists = batch_lists(batch);
  const BatchTileMemory tile(batch, shared);
  if (threadIdx.x == 0) {
    tile.units[0] = atomicAdd(&memory.control->next_unit, 1u);
  }
  __syncthreads();
  for (uint32_t own = 0;; own ^= 1) {
    const uint32_t number = tile.units[own];
    if (number >= memory.units[batch.lists]) {
      return;
    }
    // on its way meanwhile
    const uint32_t next =
        threadIdx.x == 0 ? atomicAdd(&memory.control->next_unit, 1u) : 0;
    const BatchUnit unit = batch_unit(memory, lists, number);
    const BatchScan scan = batch_scan(lists, unit);
    EntryFetch fetch = begin_fetch(lists, scan);
    for (uint32_t turn = 0; turn + 1 < kEstimateStages; turn++) {
      fetch_turn(batch, lists, tile, unit, scan, fetch);
    }
    load_tile(batch, memory, tile, unit);
    if (threadIdx.x == 0) {
      tile.units[own ^ 1] = next;
    }
    __syncthreads();
    if (unit.count <= 8) {
      estimate_unit<1>(batch, memory, lists, tile, unit, scan, fetch);
    } else if (unit.count <= 16) {
      estimate_unit<2>(batch, memory, lists, tile, unit, scan, fetch);
    } else if (unit.count <= 24) {
      estimate_unit<3>(batch, memory, lists, tile, unit, scan, fetch);
    } else {
      estimate_unit<4>(batch, memory, lists, tile, unit, scan, fetch);
    }
    __syncthreads();
  }
}

}  // namespace vamana
