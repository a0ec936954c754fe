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
          atomicOr(&w.control.flags, static_cast<uint32_t>(kOverflow));
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
    if (warp_id() == W::kWarps - 1 && open && rank >= wanted && rank < 2 * wanted) {
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

// As expand, with the list in registers. Only two warps for each parent and the last warp have work, and tell the others
// after a barrier: w.control.parent_count is how many parents there are, w.control.behind the key of the entry behind
// them. *mark is the index of the entry that this warp has to mark before the next merge, or kUnusedSlot.
template <class W>
__device__ __forceinline__ void expand_halves(W& w, uint32_t wanted, uint32_t* mark) {
  const bool last = warp_id() == W::kWarps - 1;
  const uint32_t parent = warp_id() / 2;
  *mark = kUnusedSlot;
  if (parent >= wanted && last == false) {
    return;
  }
  uint64_t keys[kShared];
  uint32_t opened[kShared];
  uint32_t below[kShared];  // open entries in the registers before
  uint32_t found = 0;
#pragma unroll
  for (int r = 0; r < kShared; r++) {
    const uint32_t i = r * 32 + lane_id();
    keys[r] = i < w.list.size ? w.list.keys[i] : kNoKey;
  }
#pragma unroll
  for (int r = 0; r < kShared; r++) {
    opened[r] = __ballot_sync(kAllLanes, is_expanded(keys[r]) == false);
    below[r] = found;
    found += __popc(opened[r]);
  }
  // the lane, and the register, of the open entry of a rank
  const auto find = [&](uint32_t rank, uint64_t* key) {
    uint32_t mask = opened[0];
    uint32_t left = rank;
    uint32_t in = 0;
    *key = keys[0];
#pragma unroll
    for (int r = 1; r < kShared; r++) {
      if (rank >= below[r] && opened[r] != 0) {
        mask = opened[r];
        left = rank - below[r];
        in = r;
        *key = keys[r];
      }
    }
    const bool own = (mask >> lane_id() & 1u) != 0 && __popc(mask & lanes_below()) == left;
    const uint32_t lane = __ffs(__ballot_sync(kAllLanes, own)) - 1;
    *key = __shfl_sync(kAllLanes, *key, lane);
    return in * 32 + lane;
  };
  const bool has_parent = parent < wanted && parent < found;
  uint32_t node = kUnusedSlot;
  if (has_parent) {
    uint64_t key;
    *mark = find(parent, &key);
    node = load_half_row(w, key_ordinal(key), warp_id() & 1);
  }
  if (last) {
    uint64_t behind = kNoKey;
    if (wanted < found) {
      find(wanted, &behind);
    }
    if (lane_id() == 0) {
      w.control.behind = behind;
      w.control.parent_count = found < wanted ? found : wanted;
    }
#pragma unroll
    for (int r = 0; r < kShared; r++) {
      const uint32_t rank = below[r] + __popc(opened[r] & lanes_below());
      if ((opened[r] >> lane_id() & 1u) != 0 && rank >= wanted && rank < 2 * wanted) {
        prefetch_row(w, key_ordinal(keys[r]));
      }
    }
  }
  if (has_parent) {
    append_slots<W, 1>(w, {node}, false);
  }
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
        atomicOr(&w.control.flags, static_cast<uint32_t>(kOverflow));
      }
    }
  }
}

template <class W>
__device__ __forceinline__ void walk_together(W& w) {
  clear_taken(w);
  add_entry_points(w);
  const uint32_t beam = w.control.item.beam;
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
    distances(w, allowed, KeepKeys<W>{w, worst, next, false});
    __syncthreads();
    const uint32_t kept = w.control.key_count;
    const uint32_t wanted = w.complete && w.control.flags == 0 ? w.control.item.parents : 0;
    if (threadIdx.x == 0) {
      w.control.fresh_count = 0;
    }
    merge_together<W::kWarps>(w.list, beam, w.keys, w.ids, kept, &w.control.merge_count,
                              taken_places(w));
    if (threadIdx.x == 0) {
      w.control.key_count = 0;
    }
    worst = w.list.size == beam ? unmarked(w.list.keys[beam - 1]) : kNoKey;
    if (halves) {
      expand_halves(w, wanted, &mark);
      __syncthreads();
      expanded = w.control.parent_count;
      next = w.control.behind;
    } else {
      expanded = expand(w, wanted, &next);
    }
    if (expanded == 0) {
      break;
    }
    w.iterations++;
    if (halves == false) {
      __syncthreads();
    }
  }
  __syncthreads();
}

template <class W>
__device__ __forceinline__ void walk(W& w) {
  if constexpr (W::kWarps > 8) {
    walk_together(w);
  } else {
    if constexpr (W::kWarps >= kLeastTogether) {
      if (merges_together(w)) {
        walk_together(w);
        return;
      }
    }
    if constexpr (W::kWarps > 1 && W::kExact) {
      if (w.control.item.parents == 1 && w.control.item.rerank >= 0) {
        walk_split(w);
        return;
      }
    }
    walk_led(w);
  }
}

}  // namespace vamana
