// The best k of the keys that a block comes by, in shared memory: whoever is better than the k-th
// best of those sorted so far is appended, and the buffer is sorted when it may run over.
#pragma once

#include <cstdint>

#include "block_bitonic.cuh"
#include "vamana/exact_scan.h"

namespace vamana {

constexpr uint32_t kNearestSlots = 512;

struct Nearest {
  uint64_t keys[kNearestSlots];
  uint64_t limit;   // keys from here on are of no interest
  uint32_t count;
  uint32_t reserved;
};

static_assert(sizeof(Nearest) == kExactNearestBytes, "Nearest");

__device__ __forceinline__ void clear(Nearest& nearest) {
  if (threadIdx.x == 0) {
    nearest.limit = kNoKey;
    nearest.count = 0;
  }
}

__device__ __forceinline__ void offer(Nearest& nearest, uint64_t key) {
  if (key < nearest.limit) {
    nearest.keys[atomicAdd(&nearest.count, 1u)] = key;
  }
}

// Sorts by the whole block and keeps k; a barrier before and after.
__device__ inline void settle(Nearest& nearest, uint32_t k) {
  const uint32_t count = nearest.count;
  const uint32_t slots = pad_keys(nearest.keys, count);
  sort_slots(nearest.keys, slots);
  if (threadIdx.x == 0) {
    nearest.count = min(count, k);
    if (count >= k) {
      nearest.limit = nearest.keys[k - 1];
    }
  }
  __syncthreads();
}

}  // namespace vamana
