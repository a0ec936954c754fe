// Greedy search led by one warp: steps until no entry of the worklist is left to expand.
#pragma once

#include <cstdint>

#include "cta.cuh"
#include "worklist.cuh"
#include "walk/distances.cuh"
#include "walk/parents.cuh"
#include "walk/rows.cuh"
#include "walk/state.cuh"

namespace vamana {

// Number of nodes, of `count`, that get distances within the visit limit. The walk is not complete if
// the limit leaves nodes out.
template <class W>
__device__ __forceinline__ uint32_t allow(W& w, uint32_t count) {
  uint32_t allowed = w.control.item.visit_limit - w.visited_count;
  w.complete = count <= allowed;
  allowed = w.complete ? count : allowed;
  w.visited_count += allowed;
  return allowed;
}

// Distances of so many nodes become keys that the list would take. Returns how many; ends with a barrier, and
// if the first warp has yet to make the keys, only its result counts. `count` is a word of shared memory.
template <class W>
__device__ __forceinline__ uint32_t near_keys(W& w, uint32_t allowed, uint64_t worst,
                                              uint32_t* count) {
  uint32_t kept = 0;
  if constexpr (W::kKeepsSums) {
    distances(w, allowed, KeepNearKeys<W>{w, worst, W::kWarps > 1 ? count : &kept});
    cta_sync<W::kWarps>();
    return W::kWarps > 1 ? *count : kept;
  } else {
    distances(w, allowed, StoreSums{reinterpret_cast<Sums*>(w.keys)});
    cta_sync<W::kWarps>();
    if (warp_id() == 0) {
      kept = make_keys(w, allowed, w.control.item.beam, w.list, false);
    }
    return kept;
  }
}

// The key that the worklist takes no other beyond; for all warps, between barriers.
template <class W>
__device__ __forceinline__ uint64_t worst_of_list(const W& w) {
  const uint32_t beam = w.control.item.beam;
  return w.control.list_size == beam ? unmarked(w.list.keys[beam - 1]) : kNoKey;
}

// Counts the new keys of a step: two words of shared memory in turns, so that the next step's is set to
// zero while this one's is still read.
template <class W>
__device__ __forceinline__ uint32_t* key_counter(W& w, uint32_t step) {
  return (step & 1) != 0 ? &w.control.merge_count : &w.control.key_count;
}

// All warps compute distances and read rows; the first one keeps the worklist alone.
template <class W>
__device__ __forceinline__ void walk_led(W& w) {
  add_entry_points(w);
  const uint32_t beam = w.control.item.beam;
  const bool lone = w.control.item.parents == 1;
  const uint32_t few = most_few(beam, w.control.item.parents);
  uint4 row = {kUnusedSlot, kUnusedSlot, kUnusedSlot, kUnusedSlot};
  uint32_t row_of = kUnusedSlot;
  uint64_t worst = kNoKey;
  while (true) {
    const uint32_t allowed = allow(w, w.control.fresh_count);
    const uint32_t kept = near_keys(w, allowed, worst, key_counter(w, w.iterations));
    if (warp_id() == 0) {
      if (lone) {
        pick_eagerly(w, kept, &row, &row_of);
      }
      merge_step_keys(w.list, beam, w.keys, w.ids, kept, few);
      pick_parents(w);
      if (W::kKeepsSums && W::kWarps > 1 && lane_id() == 0) {
        *key_counter(w, w.iterations + 1) = 0;
      }
      __syncwarp();
      // this warp's row needs no barrier before it
      if (lone && w.control.parent_count > 0) {
        append_row(w, parent_row(w, 0, row, row_of), true);
      }
    }
    cta_sync<W::kWarps>();
    if (w.control.parent_count == 0) {
      break;
    }
    w.expanded_count += w.control.parent_count;
    w.iterations++;
    if constexpr (W::kKeepsSums) {
      worst = worst_of_list(w);
    }
    if (lone == false) {
      read_rows(w, row, row_of);
      cta_sync<W::kWarps>();
    }
  }
  w.list.size = w.control.list_size;
}

// As walk_led with a parent a step, but the last warp appends the parent's row while the first one merges.
template <class W>
__device__ __forceinline__ void walk_split(W& w) {
  add_entry_points(w);
  constexpr uint32_t kRower = W::kWarps - 1;
  const uint32_t beam = w.control.item.beam;
  uint4 row = {kUnusedSlot, kUnusedSlot, kUnusedSlot, kUnusedSlot};
  uint64_t worst = kNoKey;
  uint64_t open = kNoKey;         // of the first warp
  uint32_t row_of = kUnusedSlot;  // of the last one
  while (true) {
    const uint32_t allowed = allow(w, w.control.fresh_count);
    if (warp_id() == kRower && row_of != kUnusedSlot) {
      row = load_row(w, row_of);
    }
    const bool goes_on = w.complete && w.control.flags == 0;
    const uint32_t kept = near_keys(w, allowed, worst, key_counter(w, w.iterations));
    if (warp_id() == 0) {
      if (kept > 0) {
        const uint64_t parent = nearest_of(w, kept, open);
        if (lane_id() == 0) {
          w.control.parents[kMaxParents - 1] = key_ordinal(parent);
          w.control.parent_count = goes_on && parent != kNoKey ? 1 : 0;
        }
        __syncwarp();
        // ranks go where other parents would be, since the row goes to w.ids; if they are too many, it waits
        const bool few = kept < kMaxParents - 1;
        if (few) {
          pair_arrive();
        }
        merge_step_keys(w.list, beam, w.keys, few ? w.control.parents + 1 : w.ids, kept,
                        most_few(beam, 1));
        if (few == false) {
          pair_arrive();
        }
      }
      mark_parents(w, goes_on ? 1 : 0);
      open = nearest_open(w);
      if (lane_id() == 0) {
        w.control.list_size = w.list.size;
        w.control.next = open == kNoKey ? kUnusedSlot : key_ordinal(open);
        *key_counter(w, w.iterations + 1) = 0;
      }
    } else if (warp_id() == kRower) {
      uint32_t parent = row_of;
      bool found = goes_on && parent != kUnusedSlot;
      if (kept > 0) {
        pair_wait();
        parent = w.control.parents[kMaxParents - 1];
        found = w.control.parent_count != 0;
      }
      if (found) {
        if (parent != row_of) {
          row = load_row(w, parent);
        }
        append_row(w, row, true);
      }
      if (kept == 0 && lane_id() == 0) {
        w.control.parent_count = found ? 1 : 0;
      }
    }
    cta_sync<W::kWarps>();
    if (w.control.parent_count == 0) {
      break;
    }
    w.expanded_count++;
    w.iterations++;
    worst = worst_of_list(w);
    row_of = w.control.next;
  }
  w.list.size = w.control.list_size;
}

}  // namespace vamana
