// The order of lists of many items: distances of items and centroids as a product of matrices, then the nearest
// lists of each item.
#pragma once

#include <cstdint>

#include "cta.cuh"
#include "list_batch/memory.cuh"
#include "sort.cuh"

namespace vamana {

constexpr uint32_t kMeasureThreads = 256;
constexpr int kKeepWarps = 4;
constexpr uint32_t kMeasureColumns = kMeasuredLists / 4;  // threads side by side
constexpr uint32_t kMeasureOwnItems = kMeasuredItems / (kMeasureThreads / kMeasureColumns);
static_assert(kMeasureOwnItems == 8, "two reads of 16 bytes");

// Rows from `first` on, of which `count` are there, by components: `width` places and 4 more for each component.
__device__ __forceinline__ void load_columns(float* target, uint32_t width, const float* rows,
                                             uint32_t padded, uint32_t first, uint32_t count,
                                             uint32_t component) {
  constexpr uint32_t kQuarters = kMeasuredDepth / 4;
  for (uint32_t i = threadIdx.x; i < width * kQuarters; i += kMeasureThreads) {
    const uint32_t row = i / kQuarters;
    const uint32_t d = i % kQuarters * 4;
    float4 four = {0, 0, 0, 0};
    if (first + row < count) {
      four = __ldg(reinterpret_cast<const float4*>(rows + uint64_t{first + row} * padded +
                                                   component + d));
    }
    float* column = target + d * (width + 4) + row;
    column[0] = four.x;
    column[width + 4] = four.y;
    column[2 * (width + 4)] = four.z;
    column[3 * (width + 4)] = four.w;
  }
}

// Keys of all lists of the items from..from + rows - 1.
__device__ __forceinline__ void measure_batch(const ListBatch& batch, uint8_t* shared) {
  const BatchMemory memory(batch);
  const Lists lists = batch_lists(batch);
  float* items = reinterpret_cast<float*>(shared);
  float* centroids = items + kMeasuredDepth * (kMeasuredItems + 4);
  const float* rows = memory.rotated + uint64_t{batch.from} * batch.padded;
  const uint32_t left = batch.search.count - batch.from;
  const uint32_t count = left < batch.rows ? left : batch.rows;
  const uint32_t wide = (batch.lists + kMeasuredLists - 1) / kMeasuredLists;
  const uint32_t tiles = (count + kMeasuredItems - 1) / kMeasuredItems * wide;
  const uint32_t column = threadIdx.x % kMeasureColumns;
  const uint32_t own = threadIdx.x / kMeasureColumns * kMeasureOwnItems;
#pragma unroll 1
  for (uint32_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const uint32_t first = tile / wide * kMeasuredItems;
    const uint32_t list = tile % wide * kMeasuredLists;
    float squares[kMeasureOwnItems][4];
#pragma unroll
    for (uint32_t i = 0; i < kMeasureOwnItems; i++) {
#pragma unroll
      for (uint32_t j = 0; j < 4; j++) {
        squares[i][j] = 0;
      }
    }
#pragma unroll 1
    for (uint32_t component = 0; component < batch.padded; component += kMeasuredDepth) {
      load_columns(items, kMeasuredItems, rows, batch.padded, first, count, component);
      load_columns(centroids, kMeasuredLists, reinterpret_cast<const float*>(lists.centroids),
                   batch.padded, list, batch.lists, component);
      __syncthreads();
#pragma unroll 4
      for (uint32_t d = 0; d < kMeasuredDepth; d++) {
        const float4* row =
            reinterpret_cast<const float4*>(items + d * (kMeasuredItems + 4) + own);
        const float4 low = row[0];
        const float4 high = row[1];
        const float q[kMeasureOwnItems] = {low.x,  low.y,  low.z,  low.w,
                                           high.x, high.y, high.z, high.w};
#pragma unroll
        for (uint32_t j = 0; j < 4; j++) {
          const float c = centroids[d * (kMeasuredLists + 4) + j * kMeasureColumns + column];
#pragma unroll
          for (uint32_t i = 0; i < kMeasureOwnItems; i++) {
            const float difference = q[i] - c;
            squares[i][j] = fmaf(difference, difference, squares[i][j]);
          }
        }
      }
      __syncthreads();
    }
#pragma unroll
    for (uint32_t j = 0; j < 4; j++) {
      const uint32_t number = list + j * kMeasureColumns + column;
      if (number < batch.lists) {
        const uint4 words = __ldg(reinterpret_cast<const uint4*>(lists.facts) + number);
        const ListFacts facts = {words.x, __uint_as_float(words.y), __uint_as_float(words.z), 0};
#pragma unroll
        for (uint32_t i = 0; i < kMeasureOwnItems; i++) {
          const uint32_t item = first + own + i;
          if (item < count) {
            memory.keys[uint64_t{item} * batch.lists + number] =
                list_key(lists, facts, squares[i][j],
                         memory.items[batch.from + item].rotated_norm2);
          }
        }
      }
    }
  }
}

// Sum over the block.
__device__ __forceinline__ uint32_t keep_sum(uint32_t value, uint32_t* scratch) {
  return cta_sum<kKeepWarps>(value, scratch);
}

// The nearest lists of each of these items, in order. Lists fall into groups; the nearest of each group say up to
// which key there are enough, so that the keys are read twice only.
__device__ __forceinline__ void keep_batch(const ListBatch& batch, uint8_t* shared) {
  constexpr uint32_t kThreads = kKeepWarps * 32;
  constexpr uint32_t kOwnGroups = kBatchGroups / kThreads;
  const BatchMemory memory(batch);
  uint32_t* scratch = reinterpret_cast<uint32_t*>(shared);
  uint32_t* found = scratch + 8;
  uint64_t* near = reinterpret_cast<uint64_t*>(shared + 64);
  const uint32_t left = batch.search.count - batch.from;
  const uint32_t count = left < batch.rows ? left : batch.rows;
#pragma unroll 1
  for (uint32_t row = blockIdx.x; row < count; row += gridDim.x) {
    const uint32_t* keys = memory.keys + uint64_t{row} * batch.lists;
    uint32_t nearest[kOwnGroups];
    uint32_t valid = 0;
#pragma unroll
    for (uint32_t group = 0; group < kOwnGroups; group++) {
      nearest[group] = kUnusedSlot;
    }
#pragma unroll 1
    for (uint32_t base = threadIdx.x; base < batch.lists; base += kBatchGroups) {
#pragma unroll
      for (uint32_t group = 0; group < kOwnGroups; group++) {
        const uint32_t list = base + group * kThreads;
        const uint32_t key = list < batch.lists ? keys[list] : kUnusedSlot;
        nearest[group] = key < nearest[group] ? key : nearest[group];
        valid += key != kUnusedSlot ? 1u : 0u;
      }
    }
    valid = keep_sum(valid, scratch);
    uint32_t last = kUnusedSlot - 1;
    if (valid > kBatchNear) {
      // the least key that the nearest of enough groups do not exceed
      uint32_t least = 0;
      while (least < last) {
        const uint32_t middle = least + (last - least) / 2;
        uint32_t reached = 0;
#pragma unroll
        for (uint32_t group = 0; group < kOwnGroups; group++) {
          reached += nearest[group] <= middle ? 1u : 0u;
        }
        if (keep_sum(reached, scratch) >= batch.kept) {
          last = middle;
        } else {
          least = middle + 1;
        }
      }
    }
    if (threadIdx.x == 0) {
      *found = 0;
    }
    __syncthreads();
#pragma unroll 1
    for (uint32_t base = threadIdx.x; base < batch.lists; base += kBatchGroups) {
      // asked for together
      uint32_t own[kOwnGroups];
#pragma unroll
      for (uint32_t group = 0; group < kOwnGroups; group++) {
        const uint32_t list = base + group * kThreads;
        own[group] = list < batch.lists ? keys[list] : kUnusedSlot;
      }
#pragma unroll
      for (uint32_t group = 0; group < kOwnGroups; group++) {
        if (own[group] <= last) {
          const uint32_t place = atomicAdd(found, 1u);
          if (place < kBatchNear) {
            near[place] = static_cast<uint64_t>(own[group]) << 32 | (base + group * kThreads);
          }
        }
      }
    }
    __syncthreads();
    const uint32_t all = *found;
    const uint32_t item = batch.from + row;
    if (all == 0 || all > kBatchNear) {
      // so many lists are equally near
      __syncthreads();
      if (threadIdx.x == 0) {
        leave_to_rest(batch, memory, item);
      }
      continue;
    }
    sort_in_shared<kKeepWarps>(near, all);
    const uint32_t known = all < batch.kept ? all : batch.kept;
    for (uint32_t i = threadIdx.x; i < known; i += kThreads) {
      memory.order[uint64_t{item} * batch.kept + i] = static_cast<uint32_t>(near[i]);
    }
    if (threadIdx.x == 0) {
      memory.items[item].lists = known;
      memory.items[item].all_lists = known == valid ? 1 : 0;
    }
    __syncthreads();
  }
}

}  // namespace vamana
