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

// How many of so many nodes get distances within the visit limit; the walk is not complete if that
// leaves some out.
template <class W>
__device__ __forceinline__ uint32_t allow(W& w, uint32_t count) {
  uint32_t allowed = w.control.item.visit_limit - w.visited_count;
  w.complete = count <= allowed;
  allowed = w.complete ? count : allowed;
  w.visited_count += allowed;
  return allowed;
}

// All warps compute distances and read rows; the first one keeps the worklist alone.
template <class W>
__device__ __forceinline__ void walk_led(W& w) {
  add_entry_points(w);
  uint4 row = {kUnusedSlot, kUnusedSlot, kUnusedSlot, kUnusedSlot};
  uint32_t row_of = kUnusedSlot;
  while (true) {
    const uint32_t allowed = allow(w, w.control.fresh_count);
    distances(w, allowed, StoreSums{reinterpret_cast<Sums*>(w.keys)});
    cta_sync<W::kWarps>();
    w.lap(kDistances);
    if (warp_id() == 0) {
      const uint32_t kept = make_keys(w, allowed, w.control.item.beam, w.list, false);
      pick_eagerly(w, kept, &row, &row_of);
      merge_new_keys<1>(w.list, w.control.item.beam, w.keys, w.ids, kept, &w.control.merge_count);
      w.lap(kMerge);
      pick_parents(w);
    }
    cta_sync<W::kWarps>();
    w.lap(kPick);
    if (w.control.parent_count == 0) {
      break;
    }
    w.expanded_count += w.control.parent_count;
    w.iterations++;
    read_rows(w, row, row_of);
    cta_sync<W::kWarps>();
    w.lap(kRows);
  }
  w.list.size = w.control.list_size;
}

}  // namespace vamana
