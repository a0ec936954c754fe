// Which nodes a step led by one warp expands.
#pragma once

#include <cstdint>

#include "cta.cuh"
#include "worklist.cuh"
#include "walk/rows.cuh"
#include "walk/state.cuh"
#include "vamana/order.h"

namespace vamana {

// Marks the nearest unexpanded entries; none if the walk is over.
template <class W>
__device__ __forceinline__ void pick_parents(W& w) {
  uint32_t count = 0;
  const uint32_t wanted = w.complete && w.control.flags == 0 ? w.control.item.parents : 0;
  while (count < wanted) {
    uint32_t at = next_unexpanded(w.list);
    w.list.cursor = at;
    if (at == w.list.size) {
      break;
    }
    uint64_t key = w.list.keys[at];
    __syncwarp();
    if (lane_id() == 0) {
      w.list.keys[at] = key | kExpanded;
      w.control.parents[count] = key_ordinal(key);
      if (w.walk.expanded_capacity > 0 && w.control.item.rerank < 0) {
        if (w.expanded_count + count < w.walk.expanded_capacity) {
          w.expanded[w.expanded_count + count] = key_ordinal(key);
        } else {
          w.control.flags = kOverflow;
        }
      }
    }
    count++;
    w.list.cursor = at + 1;
    __syncwarp();
  }
  if (lane_id() == 0) {
    w.control.parent_count = count;
    w.control.fresh_count = 0;
    w.control.list_size = w.list.size;
  }
}

// Requests the row of the entry that will be expanded next: the nearest of the new keys and the
// unexpanded entries (BANG, section 4.6).
template <class W>
__device__ __forceinline__ void pick_eagerly(W& w, uint32_t kept, uint4* row, uint32_t* row_of) {
  if ((w.walk.flags & kEagerPick) == 0 || w.control.item.parents != 1) {
    return;
  }
  uint64_t best = kNoKey;
  for (uint32_t i = lane_id(); i < kept; i += 32) {
    best = w.keys[i] < best ? w.keys[i] : best;
  }
  best = warp_min(best);
  uint32_t open = next_unexpanded(w.list);
  if (open < w.list.size && w.list.keys[open] < best) {
    best = w.list.keys[open];
  }
  *row_of = kUnusedSlot;
  if (best != kNoKey) {
    *row_of = key_ordinal(best);
    *row = load_row(w, *row_of);
  }
}

}  // namespace vamana
