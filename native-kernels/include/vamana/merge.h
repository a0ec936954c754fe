// Ranks for merging sorted keys (BANG, section 4.8). New keys take the lower bound in the worklist,
// entries of the worklist the upper bound among the new keys' ranks, so that no two keys get one
// place.
#pragma once

#include <cstdint>

#include "vamana/order.h"
#include "vamana/platform.h"

namespace vamana {

// How many worklist entries are smaller than a new key, marks ignored.
VAMANA_HD uint32_t rank_in_list(const uint64_t* list, uint32_t size, uint64_t key) {
  uint32_t low = 0;
  while (size > 0) {
    uint32_t half = size >> 1;
    if (unmarked(list[low + half]) < key) {
      low += half + 1;
      size -= half + 1;
    } else {
      size = half;
    }
  }
  return low;
}

// How many new keys go before the worklist entry at an index: those whose rank is at most it.
VAMANA_HD uint32_t shift_of(const uint32_t* ranks, uint32_t count, uint32_t index) {
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
