// The beginning of a walk: the item, its query, the distance table and an empty visited set.
#pragma once

#include <cstdint>

#include "asymmetric.cuh"
#include "cta.cuh"
#include "exact.cuh"
#include "query.cuh"
#include "walk/state.cuh"

namespace vamana {

// Takes the next item of the launch, with an empty visited set; false if there is none left. Ends
// with a barrier.
template <class W>
__device__ __forceinline__ bool take_item(W& w) {
  uint32_t next = blockIdx.x;
  if (w.begun) {
    if (threadIdx.x == 0) {
      w.control.next =
          gridDim.x + atomicAdd(reinterpret_cast<uint32_t*>(w.walk.counter), 1u);
    }
    cta_sync<W::kWarps>();
    next = w.control.next;
  }
  w.begun = true;
  if (next >= w.walk.count) {
    return false;
  }
  if (warp_id() == 0) {
    uint64_t address = w.walk.items;
    if ((w.walk.flags & kOneItem) == 0) {
      address = reinterpret_cast<const volatile uint64_t*>(address)[next];
    }
    const uint32_t* item = reinterpret_cast<const uint32_t*>(address);
    if (lane_id() < sizeof(Item) / 4) {
      reinterpret_cast<uint32_t*>(&w.control.item)[lane_id()] =
          *reinterpret_cast<const volatile uint32_t*>(item + lane_id());
    }
    __syncwarp();
    const uint32_t* segment = reinterpret_cast<const uint32_t*>(w.control.item.segment);
    if (lane_id() < sizeof(Segment) / 4) {
      reinterpret_cast<uint32_t*>(&w.control.segment)[lane_id()] = segment[lane_id()];
    }
    if (lane_id() == 0) {
      w.control.flags = 0;
      w.control.fresh_count = 0;
      w.control.key_count = 0;
    }
  }
  for (uint32_t i = threadIdx.x; i < w.walk.visited_slots / 4; i += W::kThreads) {
    reinterpret_cast<uint4*>(w.visited)[i] = {0, 0, 0, 0};
  }
  cta_sync<W::kWarps>();
  return true;
}

// Query and table.
template <class W>
__device__ __forceinline__ void prepare(W& w) {
  const Segment& segment = w.control.segment;
  const Item& item = w.control.item;
  w.padded = up16(segment.dimension);
  w.list.size = 0;
  w.list.cursor = 0;
  w.visited_count = 0;
  w.expanded_count = 0;
  w.iterations = 0;
  const bool unit = W::kExact == false && segment.similarity == kCosine;
  float norm2 = 0;
  for (uint32_t d = threadIdx.x; d < segment.dimension; d += W::kThreads) {
    float q = query_component(segment, item, d);
    w.query[W::kExact ? query_place<W::kFormat>(d, w.padded) : d] = q;
    norm2 = fmaf(q, q, norm2);
  }
  norm2 = warp_sum(norm2);
  if constexpr (W::kWarps > 1) {
    float* sums = reinterpret_cast<float*>(w.keys);
    if (lane_id() == 0) {
      sums[warp_id()] = norm2;
    }
    __syncthreads();
    norm2 = 0;
    for (int warp = 0; warp < W::kWarps; warp++) {
      norm2 += sums[warp];
    }
  }
  w.query_norm2 = norm2;
  cta_sync<W::kWarps>();
  if constexpr (W::kExact == false) {
    if (unit && norm2 > 0) {
      float inverse = 1 / sqrtf(norm2);
      for (uint32_t d = threadIdx.x; d < segment.dimension; d += W::kThreads) {
        w.query[d] *= inverse;
      }
      cta_sync<W::kWarps>();
    }
    if constexpr (W::kPolicy == kTableHalf) {
      float scale = table_scale<W::kWarps>(segment, w.query, &w.control.table_scale);
      fill_table<W::kWarps>(segment, w.query, scale, reinterpret_cast<uint16_t*>(w.table));
    } else {
      fill_table<W::kWarps>(segment, w.query, reinterpret_cast<float*>(w.table));
    }
    cta_sync<W::kWarps>();
  }
}

}  // namespace vamana
