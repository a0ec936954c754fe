// Which nodes a step led by one warp expands.
#pragma once

#include <cstdint>

#include "cta.cuh"
#include "worklist.cuh"
#include "walk/rows.cuh"
#include "walk/state.cuh"
#include "vamana/order.h"

namespace vamana {

// Marks so many of the nearest unexpanded entries, by one warp, and tells the block which they are. Returns
// how many there are.
template <class W>
__device__ __forceinline__ uint32_t mark_parents(W& w, uint32_t wanted) {
  uint32_t count = 0;
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
          atomicOr(&w.control.flags, static_cast<uint32_t>(kOverflow));
        }
      }
    }
    count++;
    w.list.cursor = at + 1;
    __syncwarp();
  }
  return count;
}

// Marks the parents of the next step; none if the walk is over.
template <class W>
__device__ __forceinline__ void pick_parents(W& w) {
  const uint32_t count =
      mark_parents(w, w.complete && w.control.flags == 0 ? w.control.item.parents : 0);
  if (lane_id() == 0) {
    w.control.parent_count = count;
    w.control.fresh_count = 0;
    w.control.list_size = w.list.size;
  }
}

// The nearest unexpanded entry, or kNoKey; by one warp.
template <class W>
__device__ __forceinline__ uint64_t nearest_open(const W& w) {
  const uint32_t at = next_unexpanded(w.list);
  return at < w.list.size ? w.list.keys[at] : kNoKey;
}

// The nearest of the new keys that are beyond a key, or from it on; by one warp.
template <class W>
__device__ __forceinline__ uint64_t nearest_new(const W& w, uint32_t kept, uint64_t from) {
  uint64_t best = kNoKey;
  for (uint32_t i = lane_id(); i < kept; i += 32) {
    const uint64_t key = w.keys[i];
    best = key < best && key >= from ? key : best;
  }
  return warp_min(best);
}

// Whether the list has a key, by one warp.
template <class W>
__device__ __forceinline__ bool list_has(const W& w, uint64_t key) {
  bool found = false;
  for (uint32_t i = lane_id(); i < w.list.size; i += 32) {
    found |= unmarked(w.list.keys[i]) == key;
  }
  return __any_sync(kAllLanes, found);
}

// The key that will be expanded next when the new keys, of which there are some, have been merged: the
// nearest of them and `open`, the nearest unexpanded entry. A node that was expanded and then forgotten
// may be among the new keys again, and does not count.
template <class W>
__device__ __forceinline__ uint64_t nearest_of(const W& w, uint32_t kept, uint64_t open) {
  uint64_t best = nearest_new(w, kept, 0);
  while (best < open && list_has(w, best)) {
    best = nearest_new(w, kept, best + 1);
  }
  return best < open ? best : open;
}

// Requests the row of the entry that will be expanded next: the nearest of the new keys and the
// unexpanded entries (BANG, section 4.6).
template <class W>
__device__ __forceinline__ void pick_eagerly(W& w, uint32_t kept, uint4* row, uint32_t* row_of) {
  uint64_t best = nearest_open(w);
  if (kept > 0) {
    const uint64_t key = nearest_new(w, kept, 0);
    best = key < best ? key : best;
  }
  *row_of = best == kNoKey ? kUnusedSlot : key_ordinal(best);
  if (*row_of != kUnusedSlot) {
    *row = load_row(w, *row_of);
  }
}

}  // namespace vamana
