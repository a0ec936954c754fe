// The order of lists of many items, from the keys that list_batch/measure.cuh finds.
#pragma once

#include <cstdint>

#include "cta.cuh"
#include "list_batch/memory.cuh"
#include "sort.cuh"

namespace vamana {

constexpr int kKeepWarps = 4;

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
#pragma unroll
          for (uint32_t i = 0; i < 8; i++) {
            keep_near(near, found, last, keys[8 * octet + i], 8 * octet + i);
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
