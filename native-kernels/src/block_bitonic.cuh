// Batcher's bitonic network over keys in shared memory, by a whole block of any number of threads.
#pragma once

#include <cstdint>

#include "vamana/order.h"

namespace vamana {

// Fills up to a power of two, which it returns.
__device__ __forceinline__ uint32_t pad_keys(uint64_t* keys, uint32_t count) {
  uint32_t slots = 2;
  while (slots < count) {
    slots *= 2;
  }
  for (uint32_t i = count + threadIdx.x; i < slots; i += blockDim.x) {
    keys[i] = kNoKey;
  }
  return slots;
}

// Runs of keys, first ascending and then descending ones, become sorted ones: every other of them
// ascending, and so one that is as long as slots. Both are powers of two from 2. A barrier before,
// none after.
__device__ __forceinline__ void merge_runs(uint64_t* keys, uint32_t slots, uint32_t run) {
  for (uint32_t stride = run / 2; stride > 0; stride /= 2) {
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < slots / 2; i += blockDim.x) {
      const uint32_t low = 2 * i - (i & (stride - 1));
      const uint64_t a = keys[low];
      const uint64_t b = keys[low + stride];
      if ((a > b) == ((low & run) == 0)) {
        keys[low] = b;
        keys[low + stride] = a;
      }
    }
  }
}

// Ascending; slots is a power of two from 2. A barrier before and after.
__device__ __forceinline__ void sort_slots(uint64_t* keys, uint32_t slots) {
  for (uint32_t run = 2; run <= slots; run *= 2) {
    merge_runs(keys, slots, run);
  }
  __syncthreads();
}

}  // namespace vamana
