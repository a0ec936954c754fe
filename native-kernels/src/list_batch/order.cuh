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
constexpr uint32_t kMeasureSide = 16;  // threads side by side, and above each other
constexpr uint32_t kMeasureStride = kMeasuredItems + 4;
static_assert(kMeasuredItems == 128 && kMeasuredLists == 128, "a thread has two times four of both");
static_assert(kMeasureSide * kMeasureSide == kMeasureThreads, "threads of a tile");
static_assert(kMeasuredDepth == 32, "eight quarters, see load_columns");

// The place of a row's component in shared memory. Four rows lie together, so that a thread reads them at once;
// rows that threads write at the same time are in different banks.
__device__ __forceinline__ uint32_t measure_place(uint32_t component, uint32_t row) {
  return component * kMeasureStride + (row ^ (component / 4 * 4));
}

// Rows from `first` on, of which `count` are there, by components, less those of the first centroid.
__device__ __forceinline__ void load_columns(float* target, const float* rows, const float* center,
                                             uint32_t padded, uint32_t first, uint32_t count,
                                             uint32_t component) {
  constexpr uint32_t kQuarters = kMeasuredDepth / 4;
#pragma unroll 4
  for (uint32_t i = threadIdx.x; i < kMeasuredItems * kQuarters; i += kMeasureThreads) {
    const uint32_t row = i / kQuarters;
    const uint32_t d = i % kQuarters * 4;
    float4 four = {0, 0, 0, 0};
    if (first + row < count) {
      four = __ldg(reinterpret_cast<const float4*>(rows + uint64_t{first + row} * padded +
                                                   component + d));
      const float4 less = __ldg(reinterpret_cast<const float4*>(center + component + d));
      four = {four.x - less.x, four.y - less.y, four.z - less.z, four.w - less.w};
    }
    const uint32_t at = measure_place(d, row);
    target[at] = four.x;
    target[at + kMeasureStride] = four.y;
    target[at + 2 * kMeasureStride] = four.z;
    target[at + 3 * kMeasureStride] = four.w;
  }
}

// Four rows of a thread, and four half a tile further.
__device__ __forceinline__ void read_eight(float (&values)[8], const float* column, uint32_t own) {
  const float4 low = *reinterpret_cast<const float4*>(column + own);
  const float4 high = *reinterpret_cast<const float4*>(column + own + kMeasuredItems / 2);
  values[0] = low.x;
  values[1] = low.y;
  values[2] = low.z;
  values[3] = low.w;
  values[4] = high.x;
  values[5] = high.y;
  values[6] = high.z;
  values[7] = high.w;
}

// The place in a tile of a thread's row.
__device__ __forceinline__ uint32_t measured_row(uint32_t own, uint32_t i) {
  return own + i % 4 + i / 4 * (kMeasuredItems / 2);
}

// Keys of all lists of the items from..from + rows - 1. Squared distances are |q|^2 + |c|^2 - 2 <q, c>, all less
// the first centroid, so that little is lost where vectors lie far from the origin.
__device__ __forceinline__ void measure_batch(const ListBatch& batch, uint8_t* shared) {
  const BatchMemory memory(batch);
  const Lists lists = batch_lists(batch);
  float* items = reinterpret_cast<float*>(shared);
  float* centroids = items + kMeasuredDepth * kMeasureStride;
  const float* center = reinterpret_cast<const float*>(lists.centroids);
  const float* rows = memory.rotated + uint64_t{batch.from} * batch.padded;
  const uint32_t left = batch.search.count - batch.from;
  const uint32_t count = left < batch.rows ? left : batch.rows;
  const uint32_t wide = (batch.lists + kMeasuredLists - 1) / kMeasuredLists;
  const uint32_t tiles = (count + kMeasuredItems - 1) / kMeasuredItems * wide;
  const uint32_t own_list = threadIdx.x % kMeasureSide * 4;
  const uint32_t own_item = threadIdx.x / kMeasureSide * 4;
#pragma unroll 1
  for (uint32_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const uint32_t first = tile / wide * kMeasuredItems;
    const uint32_t list = tile % wide * kMeasuredLists;
    float products[8][8];
#pragma unroll
    for (uint32_t i = 0; i < 8; i++) {
#pragma unroll
      for (uint32_t j = 0; j < 8; j++) {
        products[i][j] = 0;
      }
    }
#pragma unroll 1
    for (uint32_t component = 0; component < batch.padded; component += kMeasuredDepth) {
      load_columns(items, rows, center, batch.padded, first, count, component);
      load_columns(centroids, center, center, batch.padded, list, batch.lists, component);
      __syncthreads();
#pragma unroll 1
      for (uint32_t d = 0; d < kMeasuredDepth; d += 4) {
        const float* own_items = items + d * kMeasureStride;
        const float* own_lists = centroids + d * kMeasureStride;
#pragma unroll
        for (uint32_t next = 0; next < 4; next++) {
          float q[8];
          float c[8];
          read_eight(q, own_items + next * kMeasureStride, own_item ^ d);
          read_eight(c, own_lists + next * kMeasureStride, own_list ^ d);
#pragma unroll
          for (uint32_t i = 0; i < 8; i++) {
#pragma unroll
            for (uint32_t j = 0; j < 8; j++) {
              products[i][j] = fmaf(q[i], c[j], products[i][j]);
            }
          }
        }
      }
      __syncthreads();
    }
    uint32_t nearest[8];
#pragma unroll
    for (uint32_t i = 0; i < 8; i++) {
      nearest[i] = kUnusedSlot;
    }
#pragma unroll
    for (uint32_t half = 0; half < 8; half += 4) {
      const uint32_t number = list + measured_row(own_list, half);
      ListFacts facts[4];
      float norms[4];
#pragma unroll
      for (uint32_t j = 0; j < 4; j++) {
        const bool valid = number + j < batch.lists;
        const uint4 words =
            valid ? __ldg(reinterpret_cast<const uint4*>(lists.facts) + number + j) : uint4{0, 0, 0, 0};
        facts[j] = {words.x, __uint_as_float(words.y), __uint_as_float(words.z), 0};
        norms[j] = valid ? memory.norms[number + j] : 0;
      }
#pragma unroll
      for (uint32_t i = 0; i < 8; i++) {
        const uint32_t item = first + measured_row(own_item, i);
        if (item < count) {
          const BatchItem& known = memory.items[batch.from + item];
          uint32_t keys[4];
#pragma unroll
          for (uint32_t j = 0; j < 4; j++) {
            const float squares = known.center_norm2 + norms[j] - 2 * products[i][half + j];
            keys[j] = list_key(lists, facts[j], fmaxf(squares, 0), known.rotated_norm2);
            nearest[i] = keys[j] < nearest[i] ? keys[j] : nearest[i];
          }
          // written together, also for places behind the last list
          *reinterpret_cast<uint4*>(memory.keys + uint64_t{item} * batch_keys(batch.lists) + number) = {
              keys[0], keys[1], keys[2], keys[3]};
        }
      }
    }
#pragma unroll
    for (uint32_t i = 0; i < 8; i++) {
      const uint32_t item = first + measured_row(own_item, i);
      if (item < count) {
        memory.nearest[uint64_t{item} * batch_octets(batch.lists) + tile % wide * kMeasureSide +
                       own_list / 4] = nearest[i];
      }
    }
  }
}

// Sum over the block.
__device__ __forceinline__ uint32_t keep_sum(uint32_t value, uint32_t* scratch) {
  return cta_sum<kKeepWarps>(value, scratch);
}

constexpr uint32_t kKeepThreads = kKeepWarps * 32;
constexpr uint32_t kOwnGroups = kBatchGroups / kKeepThreads;

// The least of each group of values, which are kOwnGroups a thread, and how many values there are.
__device__ __forceinline__ uint32_t least_of_groups(uint32_t (&least)[kOwnGroups],
                                                    const uint32_t* values, uint32_t count) {
  uint32_t valid = 0;
#pragma unroll
  for (uint32_t group = 0; group < kOwnGroups; group++) {
    least[group] = kUnusedSlot;
  }
#pragma unroll 1
  for (uint32_t base = threadIdx.x; base < count; base += kBatchGroups) {
#pragma unroll
    for (uint32_t group = 0; group < kOwnGroups; group++) {
      const uint32_t at = base + group * kKeepThreads;
      const uint32_t value = at < count ? values[at] : kUnusedSlot;
      least[group] = value < least[group] ? value : least[group];
      valid += value != kUnusedSlot ? 1u : 0u;
    }
  }
  return valid;
}

// Groups whose least is at most `most`, of the block.
__device__ __forceinline__ uint32_t groups_within(const uint32_t (&least)[kOwnGroups],
                                                  uint32_t most, uint32_t* scratch) {
  uint32_t within = 0;
#pragma unroll
  for (uint32_t group = 0; group < kOwnGroups; group++) {
    within += least[group] <= most ? 1u : 0u;
  }
  return keep_sum(within, scratch);
}

// Keeps a list if it is near enough.
__device__ __forceinline__ void keep_near(uint64_t* near, uint32_t* found, uint32_t last,
                                          uint32_t key, uint32_t list) {
  if (key <= last) {
    const uint32_t place = atomicAdd(found, 1u);
    if (place < kBatchNear) {
      near[place] = static_cast<uint64_t>(key) << 32 | list;
    }
  }
}

// The nearest lists of each of these items, in order. Lists fall into groups; the nearest of each group say up to
// which key there are enough. The nearest of every eight lists are known, so of most lists the keys are not read;
// where there are too few of these, all keys are read twice.
__device__ __forceinline__ void keep_batch(const ListBatch& batch, uint8_t* shared) {
  const BatchMemory memory(batch);
  uint32_t* scratch = reinterpret_cast<uint32_t*>(shared);
  uint32_t* found = scratch + 8;
  uint64_t* near = reinterpret_cast<uint64_t*>(shared + 64);
  const uint32_t left = batch.search.count - batch.from;
  const uint32_t count = left < batch.rows ? left : batch.rows;
  const uint32_t octets = batch_octets(batch.lists);
#pragma unroll 1
  for (uint32_t row = blockIdx.x; row < count; row += gridDim.x) {
    const uint32_t* keys = memory.keys + uint64_t{row} * batch_keys(batch.lists);
    const uint32_t* nearest = memory.nearest + uint64_t{row} * octets;
    uint32_t least[kOwnGroups];
    least_of_groups(least, nearest, octets);
    const bool few = groups_within(least, kUnusedSlot - 1, scratch) < batch.kept;
    uint32_t valid = 0;
    if (few) {
      valid = keep_sum(least_of_groups(least, keys, batch.lists), scratch);
    }
    uint32_t last = kUnusedSlot - 1;
    if (few == false || valid > kBatchNear) {
      // the least key that the nearest of enough groups do not exceed
      uint32_t from = 0;
      while (from < last) {
        const uint32_t middle = from + (last - from) / 2;
        if (groups_within(least, middle, scratch) >= batch.kept) {
          last = middle;
        } else {
          from = middle + 1;
        }
      }
    }
    if (threadIdx.x == 0) {
      *found = 0;
    }
    __syncthreads();
    if (few) {
#pragma unroll 1
      for (uint32_t base = threadIdx.x; base < batch.lists; base += kBatchGroups) {
        // asked for together
        uint32_t own[kOwnGroups];
#pragma unroll
        for (uint32_t group = 0; group < kOwnGroups; group++) {
          const uint32_t list = base + group * kKeepThreads;
          own[group] = list < batch.lists ? keys[list] : kUnusedSlot;
        }
#pragma unroll
        for (uint32_t group = 0; group < kOwnGroups; group++) {
          keep_near(near, found, last, own[group], base + group * kKeepThreads);
        }
      }
    } else {
#pragma unroll 1
      for (uint32_t octet = threadIdx.x; octet < octets; octet += kKeepThreads) {
        if (nearest[octet] <= last) {
          const uint32_t list =
              octet / kMeasureSide * kMeasuredLists + octet % kMeasureSide * 4;
#pragma unroll
          for (uint32_t i = 0; i < 8; i++) {
            const uint32_t own = measured_row(list, i);
            keep_near(near, found, last, keys[own], own);
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
    for (uint32_t i = threadIdx.x; i < known; i += kKeepThreads) {
      memory.order[uint64_t{item} * batch.kept + i] = static_cast<uint32_t>(near[i]);
    }
    if (threadIdx.x == 0) {
      memory.items[item].lists = known;
      memory.items[item].all_lists = few && known == valid ? 1 : 0;
    }
    __syncthreads();
  }
}

}  // namespace vamana
