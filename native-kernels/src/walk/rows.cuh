// Adjacency rows: what a step adds to the nodes that get a distance.
#pragma once

#include <cstdint>

#include "cta.cuh"
#include "visited.cuh"
#include "walk/state.cuh"

namespace vamana {

// Bits of p that choose the warp which appends the p-th row of a step. Where a visit limit may end walks,
// one warp appends all rows, in their order.
template <class W>
__device__ __forceinline__ uint32_t row_mask(const W& w) {
  static_assert((W::kWarps & (W::kWarps - 1)) == 0, "a mask takes the place of a division");
  return (w.walk.flags & kLimited) != 0 ? 0 : W::kWarps - 1;
}

// Whether rows that are appended at once have so many nodes in common that it pays to add each node once: from three
// parents on, where all warps merge, since repeated keys cost most there. Two parents are 3 % slower with it.
template <class W>
__device__ __forceinline__ bool often_repeated(const W& w) {
  return W::kWarps >= 8 && w.control.item.parents > 2 && (w.walk.flags & kLimited) == 0 &&
         merges_together(w);
}

// Appends the medoid and the item's entry points to w.ids. Ends with a barrier.
template <class W>
__device__ __forceinline__ void add_entry_points(W& w) {
  const Segment& segment = w.control.segment;
  const Item& item = w.control.item;
  if (warp_id() == 0) {
    for (uint32_t from = 0; from < item.entry_count + 1; from += 32) {
      uint32_t i = from + lane_id();
      uint32_t ordinal = segment.medoid;
      if (i > 0 && i <= item.entry_count) {
        ordinal = reinterpret_cast<const uint32_t*>(item.entry_points)[i - 1];
      }
      bool valid = i <= item.entry_count;
      if (valid && ordinal >= segment.size) {
        atomicOr(&w.control.flags, static_cast<uint32_t>(kCorrupt));
        valid = false;
      }
      const uint32_t ordinals[1] = {ordinal};
      const uint32_t add = valid ? 1 : 0;
      const bool fresh =
          (often_repeated(w)
               ? visited_add_among_others<1>(w.visited, w.walk.visited_slots, ordinals, add)
               : visited_add_in_order<1>(w.visited, w.walk.visited_slots, ordinals, add)) != 0;
      uint32_t slot = append_slot(fresh, &w.control.fresh_count);
      if (fresh) {
        w.ids[slot] = ordinal;
      }
    }
  }
  cta_sync<W::kWarps>();
}

// Whether a row is two slots a lane, not four in half of the lanes; not where the order of its nodes counts.
template <class W>
__device__ __forceinline__ bool is_narrow(const W& w) {
  return W::kNarrowRows && w.control.segment.graph_stride <= 64 &&
         (w.walk.flags & kLimited) == 0;
}

template <class W>
__device__ __forceinline__ uint4 load_row(const W& w, uint32_t ordinal) {
  const Segment& segment = w.control.segment;
  const uint4* row = reinterpret_cast<const uint4*>(segment.graph) +
                     static_cast<uint64_t>(ordinal) * (segment.graph_stride / 4);
  if (is_narrow(w)) {
    uint2 slots = {kUnusedSlot, kUnusedSlot};
    if (lane_id() < segment.graph_stride / 2) {
      slots = __ldg(reinterpret_cast<const uint2*>(row) + lane_id());
    }
    return {slots.x, slots.y, kUnusedSlot, kUnusedSlot};
  }
  if (lane_id() < segment.graph_stride / 4) {
    return __ldg(row + lane_id());
  }
  return {kUnusedSlot, kUnusedSlot, kUnusedSlot, kUnusedSlot};
}

// Has a row in the device's cache when it will be read.
template <class W>
__device__ __forceinline__ void prefetch_row(const W& w, uint32_t ordinal) {
  const uint32_t bytes = w.control.segment.graph_stride * 4;
  const uint64_t row = w.control.segment.graph + static_cast<uint64_t>(ordinal) * bytes;
  for (uint32_t line = 0; line < bytes; line += 128) {
    prefetch_line(row + line);
  }
}

// Appends the nodes of a lane's slots that were not seen before to w.ids in their order, by one warp; `alone`
// if no other row of the step is appended.
template <class W, int SLOTS>
__device__ __forceinline__ void append_slots(W& w, const uint32_t (&slots)[SLOTS], bool alone) {
  uint32_t valid = 0;
#pragma unroll
  for (int i = 0; i < SLOTS; i++) {
    if (slots[i] < w.control.segment.size) {
      valid |= 1u << i;
    } else if (slots[i] != kUnusedSlot) {
      atomicOr(&w.control.flags, static_cast<uint32_t>(kCorrupt));
    }
  }
  uint32_t add = valid;
  if ((w.walk.flags & kLimited) == 0) {
    add = often_repeated(w)
              ? visited_add_among_others<SLOTS>(w.visited, w.walk.visited_slots, slots, valid)
              : visited_add<SLOTS>(w.visited, w.walk.visited_slots, slots, valid);
  } else if (SLOTS == 4) {
    add = visited_add_row_in_order(w.visited, w.walk.visited_slots,
                                   {slots[0], slots[1 % SLOTS], slots[2 % SLOTS], slots[3 % SLOTS]}, valid);
  }
  uint32_t place = 0;
  uint32_t total = 0;
#pragma unroll
  for (int i = 0; i < SLOTS; i++) {
    const uint32_t fresh = __ballot_sync(kAllLanes, (add >> i & 1u) != 0);
    place += __popc(fresh & lanes_below());
    total += __popc(fresh);
  }
  uint32_t base = 0;
  if (alone) {
    if (lane_id() == 0) {
      w.control.fresh_count = total;
    }
  } else {
    if (lane_id() == 0) {
      base = atomicAdd(&w.control.fresh_count, total);
    }
    base = __shfl_sync(kAllLanes, base, 0);
  }
  place += base;
#pragma unroll
  for (int i = 0; i < SLOTS; i++) {
    if ((add >> i & 1u) != 0) {
      w.ids[place++] = slots[i];
    }
  }
}

// Appends the neighbours of a row that load_row has read.
template <class W>
__device__ __forceinline__ void append_row(W& w, uint4 row, bool alone) {
  if (is_narrow(w)) {
    append_slots<W, 2>(w, {row.x, row.y}, alone);
    return;
  }
  append_slots<W, 4>(w, {row.x, row.y, row.z, row.w}, alone);
}

// One half of a narrow row, or the other, as a slot a lane: a warp is done sooner with one than with two.
template <class W>
__device__ __forceinline__ uint32_t load_half_row(const W& w, uint32_t ordinal, uint32_t half) {
  const Segment& segment = w.control.segment;
  const uint32_t slot = half * 32 + lane_id();
  return slot < segment.graph_stride
             ? __ldg(reinterpret_cast<const uint32_t*>(segment.graph) +
                     static_cast<uint64_t>(ordinal) * segment.graph_stride + slot)
             : kUnusedSlot;
}

// The row of the p-th parent; one parent's row may have been requested before.
template <class W>
__device__ __forceinline__ uint4 parent_row(const W& w, uint32_t p, uint4 requested,
                                            uint32_t requested_of) {
  const uint32_t parent = w.control.parents[p];
  return p == 0 && parent == requested_of ? requested : load_row(w, parent);
}

// Appends the rows of the parents.
template <class W>
__device__ __forceinline__ void read_rows(W& w, uint4 requested, uint32_t requested_of) {
  const uint32_t mask = row_mask(w);
  for (uint32_t p = 0; p < w.control.parent_count; p++) {
    if ((p & mask) != warp_id()) {
      continue;
    }
    append_row(w, parent_row(w, p, requested, requested_of), w.control.parent_count == 1);
  }
}

}  // namespace vamana
