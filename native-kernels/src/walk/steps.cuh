// Greedy search: steps until no entry of the worklist is left to expand.
#pragma once

#include <cstdint>

#include "../cta.cuh"
#include "../worklist.cuh"
#include "distances.cuh"
#include "parents.cuh"
#include "rows.cuh"
#include "state.cuh"

namespace vamana {

// The first warp keeps short worklists alone, which saves barriers; long ones are all warps' work.
constexpr uint32_t kLongList = 512;

template <class W>
__device__ __forceinline__ void walk(W& w) {
  add_entry_points(w);
  const bool together = W::kWarps > 1 && w.control.item.beam > kLongList;
  uint4 row = {kUnusedSlot, kUnusedSlot, kUnusedSlot, kUnusedSlot};
  uint32_t row_of = kUnusedSlot;
  while (true) {
    const uint32_t count = w.control.fresh_count;
    uint32_t allowed = w.control.item.visit_limit - w.visited_count;
    w.complete = count <= allowed;
    allowed = w.complete ? count : allowed;
    w.visited_count += allowed;
    distances(w, allowed);
    cta_sync<W::kWarps>();
    w.lap(kDistances);
    if (together) {
      uint32_t kept = make_keys<W::kWarps>(w, allowed, w.control.item.beam, w.list, W::kExact);
      pick_eagerly(w, kept, &row, &row_of);
      merge_new_keys<W::kWarps>(w.list, w.control.item.beam, w.keys, w.ids, kept,
                                &w.control.merge_count);
    } else if (warp_id() == 0) {
      uint32_t kept = make_keys<1>(w, allowed, w.control.item.beam, w.list, W::kExact);
      pick_eagerly(w, kept, &row, &row_of);
      merge_new_keys<1>(w.list, w.control.item.beam, w.keys, w.ids, kept, &w.control.merge_count);
    }
    w.lap(kMerge);
    if (warp_id() == 0) {
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
