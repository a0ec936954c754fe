// Ranks for merging sorted keys (BANG, section 4.8). New keys take the lower bound in the worklist,
// entries of the worklist the upper bound among the new keys' ranks, so that no two keys get one
// place.
#pragma once

#include <cstdint>

#include "vamana/order.h"

namespace vamana {

// Counts the worklist entries that are smaller than a new key. Ignores marks.
__device__ __forceinline__ uint32_t rank_in_list(const uint64_t* list, uint32_t size, uint64_t key) {
  uint32_t rank = 0;
  // lanes take the same number of steps
  for (uint32_t step = size == 0 ? 0 : 1u << (31 - __clz(static_cast<int>(size))); step > 0;
       step >>= 1) {
    if (rank + step <= size && unmarked(list[rank + step - 1]) < key) {
      rank += step;
    }
  }
  return rank;
}

// Counts the new keys that go before the worklist entry at an index: their rank is at most the index.
__device__ __forceinline__ uint32_t shift_of(const uint32_t* ranks, uint32_t count, uint32_t index) {
  uint32_t low = 0;
  while (count > 0) {
    uint32_t half = count >> 1;
    if (ranks[low + half] <= index) {
      low += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  return low;
}

}  // namespace vamana
