// Sorting of keys in shared memory by a whole block.
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

// Bitonic, ascending; slots is a power of two. A barrier before and after.
__device__ __forceinline__ void sort_keys(uint64_t* keys, uint32_t slots) {
  for (uint32_t size = 2; size <= slots; size *= 2) {
    for (uint32_t stride = size / 2; stride > 0; stride /= 2) {
      __syncthreads();
      for (uint32_t i = threadIdx.x; i < slots / 2; i += blockDim.x) {
        const uint32_t low = 2 * i - (i & (stride - 1));
        const uint64_t a = keys[low];
        const uint64_t b = keys[low + stride];
        if ((a > b) == ((low & size) == 0)) {
          keys[low] = b;
          keys[low + stride] = a;
        }
      }
    }
  }
  __syncthreads();
}

}  // namespace vamana
