// Greedy search by several warps together. A step is four phases with a barrier after each: distances, by all
// warps, of which near ones become new keys; the places of all keys; the new worklist; and rows, of a
// parent a warp.
#pragma once

#include <cstdint>

#include "counting.cuh"
#include "cta.cuh"
#include "worklist.cuh"
#include "walk/distances.cuh"
#include "walk/rows.cuh"
#include "walk/state.cuh"
#include "walk/steps.cuh"

namespace vamana {

// Registers of a lane that hold the worklist where two warps share a row.
constexpr int kShared = 4;

// Marks the `count` nearest unexpanded entries, by one warp.
template <class W>
__device__ __forceinline__ void mark_expanded(W& w, uint32_t count) {
  for (uint32_t from = 0, found = 0; found < count; from += 32) {
    const uint32_t i = from + lane_id();
    const uint64_t key = i < w.list.size ? w.list.keys[i] : kNoKey;
    const bool open = is_expanded(key) == false;
    const uint32_t opened = __ballot_sync(kAllLanes, open);
    const uint32_t rank = found + __popc(opened & lanes_below());
    if (open && rank < count) {
      w.list.keys[i] = key | kExpanded;
      if (w.walk.expanded_capacity > 0 && w.control.item.rerank < 0) {
        if (w.expanded_count + rank < w.walk.expanded_capacity) {
          w.expanded[w.expanded_count + rank] = key_ordinal(key);
        } else {
          w.control.flags = kOverflow;
        }
      }
    }
    found += __popc(opened);
  }
}

// Appends the rows of the `wanted` nearest unexpanded entries, which stay unmarked since other warps
// are looking for theirs. Returns how many there are; *next is the key of the one behind them.
template <class W>
__device__ __forceinline__ uint32_t expand(W& w, uint32_t wanted, uint64_t* next) {
  *next = kNoKey;
  const uint32_t mask = row_mask(w);
  uint32_t found = 0;
  for (uint32_t from = 0; from < w.list.size && found <= wanted; from += 32) {
    const uint32_t i = from + lane_id();
    const uint64_t key = i < w.list.size ? w.list.keys[i] : kNoKey;
    const bool open = is_expanded(key) == false;
    const uint32_t opened = __ballot_sync(kAllLanes, open);
    const uint32_t rank = found + __popc(opened & lanes_below());
    const bool own = open && rank < wanted && (rank & mask) == warp_id();
    for (uint32_t mine = __ballot_sync(kAllLanes, own); mine != 0; mine &= mine - 1) {
      const uint64_t parent = __shfl_sync(kAllLanes, key, __ffs(mine) - 1);
      append_row(w, load_row(w, key_ordinal(parent)), w.control.item.parents == 1);
    }
    if (warp_id() == W::kWarps - 1 && open && rank >= wanted && rank < 2 * wanted &&
        (w.walk.flags & kEagerPick) != 0) {
      prefetch_row(w, key_ordinal(key));
    }
    const uint32_t behind = __ballot_sync(kAllLanes, open && rank == wanted);
    if (behind != 0) {
      *next = __shfl_sync(kAllLanes, key, __ffs(behind) - 1);
    }
    found += __popc(opened);
  }
  return found < wanted ? found : wanted;
}

// Whether two warps share the row of a parent, and the worklist is short enough for expand_halves.
template <class W>
__device__ __forceinline__ bool shares_rows(const W& w) {
  return W::kWarps == 16 && is_narrow(w) && w.control.item.parents <= W::kWarps / 2 &&
         w.control.item.beam <= kShared * 32;
}

// As expand, with the list in registers. *mark is the index of the entry that this warp has to mark before the next
// merge, or kUnusedSlot.
template <class W>
__device__ __forceinline__ uint32_t expand_halves(W& w, uint32_t wanted, uint64_t* next,
                                                  uint32_t* mark) {
  uint64_t keys[kShared];
#pragma unroll
  for (int r = 0; r < kShared; r++) {
    const uint32_t i = r * 32 + lane_id();
    keys[r] = i < w.list.size ? w.list.keys[i] : kNoKey;
  }
  uint32_t found = 0;
  uint32_t ranks[kShared];
#pragma unroll
  for (int r = 0; r < kShared; r++) {
    const uint32_t opened = __ballot_sync(kAllLanes, is_expanded(keys[r]) == false);
    ranks[r] = found + __popc(opened & lanes_below());
    found += __popc(opened);
  }
  const uint32_t parent = warp_id() / 2;
  const bool has_parent = parent < wanted && parent < found;
  uint32_t node = kUnusedSlot;
  *mark = kUnusedSlot;
  if (has_parent) {
    uint32_t ordinal = 0;
#pragma unroll
    for (int r = 0; r < kShared; r++) {
      const uint32_t lane =
          __ballot_sync(kAllLanes, is_expanded(keys[r]) == false && ranks[r] == parent);
      if (lane != 0) {
        ordinal = __shfl_sync(kAllLanes, key_ordinal(keys[r]), __ffs(lane) - 1);
        *mark = r * 32 + __ffs(lane) - 1;
      }
    }
    node = load_half_row(w, ordinal, warp_id() & 1);
  }
  *next = kNoKey;
#pragma unroll
  for (int r = 0; r < kShared; r++) {
    const bool open = is_expanded(keys[r]) == false;
    const uint32_t behind = __ballot_sync(kAllLanes, open && ranks[r] == wanted);
    if (behind != 0) {
      *next = __shfl_sync(kAllLanes, keys[r], __ffs(behind) - 1);
    }
    if (warp_id() == W::kWarps - 1 && open && ranks[r] >= wanted && ranks[r] < 2 * wanted &&
        (w.walk.flags & kEagerPick) != 0) {
      prefetch_row(w, key_ordinal(keys[r]));
    }
  }
  if (has_parent) {
    append_slots<W, 1>(w, {node}, false);
  }
  return found < wanted ? found : wanted;
}

// Marks what expand_halves said, by the first of the parent's two warps.
template <class W>
__device__ __forceinline__ void mark_parent(W& w, uint32_t mark) {
  if (mark != kUnusedSlot && (warp_id() & 1) == 0 && lane_id() == 0) {
    const uint64_t key = w.list.keys[mark];
    w.list.keys[mark] = key | kExpanded;
    if (w.walk.expanded_capacity > 0 && w.control.item.rerank < 0) {
      const uint32_t at = w.expanded_count + warp_id() / 2;
      if (at < w.walk.expanded_capacity) {
        w.expanded[at] = key_ordinal(key);
      } else {
        w.control.flags = kOverflow;
      }
    }
  }
}

template <class W>
__device__ __forceinline__ void walk_together(W& w) {
  clear_taken(w);
  add_entry_points(w);
  const uint32_t beam = w.control.item.beam;
  const bool eager = (w.walk.flags & kEagerPick) != 0;
  uint64_t worst = kNoKey;
  uint64_t next = kNoKey;
  uint32_t expanded = 0;
  const bool halves = shares_rows(w);
  uint32_t mark = kUnusedSlot;
  while (true) {
    const uint32_t allowed = allow(w, w.control.fresh_count);
    if (halves) {
      mark_parent(w, mark);
    } else if (warp_id() == W::kWarps - 1) {
      mark_expanded(w, expanded);
    }
    w.expanded_count += expanded;
    distances(w, allowed, KeepKeys<W>{w, worst, eager ? next : 0, false});
    __syncthreads();
    w.lap(kDistances);
    const uint32_t kept = w.control.key_count;
    const uint32_t wanted = w.complete && w.control.flags == 0 ? w.control.item.parents : 0;
    if (threadIdx.x == 0) {
      w.control.fresh_count = 0;
    }
    merge_together<W::kWarps>(w.list, beam, w.keys, w.ids, kept, &w.control.merge_count,
                              w.control.parents);
    w.lap(kMerge);
    if (threadIdx.x == 0) {
      w.control.key_count = 0;
    }
    worst = w.list.size == beam ? unmarked(w.list.keys[beam - 1]) : kNoKey;
    expanded = halves ? expand_halves(w, wanted, &next, &mark) : expand(w, wanted, &next);
    if (expanded == 0) {
      break;
    }
    w.iterations++;
    __syncthreads();
    w.lap(kRows);
  }
  __syncthreads();
}

template <class W>
__device__ __forceinline__ void walk(W& w) {
  if constexpr (W::kWarps > 8) {
    walk_together(w);
  } else {
    if constexpr (W::kWarps > 1) {
      if (merges_together(w)) {
        walk_together(w);
        return;
      }
    }
    if constexpr (W::kWarps > 1 && W::kExact) {
      if (w.control.item.parents == 1 && w.control.item.rerank >= 0 &&
          (w.walk.flags & kEagerPick) != 0) {
        walk_split(w);
        return;
      }
    }
    walk_led(w);
  }
}

}  // namespace vamana
