// The query as seen from a list's centroid, in whole numbers whose bits lie in planes.
#pragma once

#include <cstdint>

#include "cta.cuh"
#include "lists/state.cuh"

namespace vamana {

// Numbers of 32 components at a time as PLANES words of bits, for the lanes of a warp together: those from
// `first`, then each `stride` components further. Returns the sum of the warp's numbers.
template <uint32_t PLANES, class Component>
__device__ __forceinline__ int32_t split_residual(uint32_t padded, uint32_t first, uint32_t stride,
                                                  float scale, uint32_t* planes,
                                                  Component component) {
  int32_t sum = 0;
  for (uint32_t from = first; from < padded; from += stride) {
    const int32_t number = list_round(component(from + lane_id()), scale);
    sum += number;
#pragma unroll
    for (uint32_t plane = 0; plane < PLANES; plane++) {
      const uint32_t ones = __ballot_sync(kAllLanes, (number >> plane & 1) != 0);
      if (lane_id() == plane) {
        planes[from / 32 * PLANES + plane] = ones;
      }
    }
  }
  return static_cast<int32_t>(warp_sum(static_cast<uint32_t>(sum)));
}

// Terms of a list in estimates by product quantization.
__device__ __forceinline__ ListHeads quantized_heads(const Lists& lists, float squares,
                                                     float query_norm2, float norm2) {
  return {list_base(lists.estimates, squares, query_norm2, norm2), 0, 0,
          lists.quantile * sqrtf(squares)};
}

// Opens a list. Two barriers, one for product quantization; the first is behind everything that read the list
// before.
template <class S>
__device__ __forceinline__ OpenList open_list(S& s, uint32_t list) {
  const Lists& lists = s.control.lists;
  const float* centroid = reinterpret_cast<const float*>(lists.centroids) +
                          static_cast<uint64_t>(list) * lists.padded;
  const uint4 facts = __ldg(reinterpret_cast<const uint4*>(lists.facts) + list);
  OpenList open;
  open.list = list;
  open.count = facts.x;
  open.places = list_places(facts.x);
  open.address = list_address(lists, list);
  float largest = 0;
  float squares = 0;
  for (uint32_t d = threadIdx.x; d < lists.padded; d += S::kThreads) {
    const float r = s.rotated[d] - __ldg(centroid + d);
    if constexpr (S::kQuantized == false) {
      s.residual[d] = r;
      largest = fmaxf(largest, fabsf(r));
    }
    squares = fmaf(r, r, squares);
  }
  largest = warp_max(largest);
  squares = warp_sum(squares);
  if (lane_id() == 0) {
    s.control.largest[warp_id()] = largest;
    s.control.squares[warp_id()] = squares;
  }
  if (threadIdx.x == 0) {
    s.control.candidate_count = 0;
  }
  cta_sync<S::kWarps>();
  squares = 0;
#pragma unroll
  for (int warp = 0; warp < S::kWarps; warp++) {
    largest = fmaxf(largest, s.control.largest[warp]);
    squares += s.control.squares[warp];
  }
  if constexpr (S::kQuantized) {
    open.heads = quantized_heads(lists, squares, s.rotated_norm2, __uint_as_float(facts.z));
    return open;
  }
  const ListStep step = list_step(largest, kListPlanes);
  const auto component = [&s](uint32_t d) { return s.residual[d]; };
  const int32_t sum = split_residual<kListPlanes>(lists.padded, warp_id() * 32, S::kThreads,
                                                  step.scale, s.planes, component);
  int32_t more_sum = 0;
  if (lists.bits > 1) {
    const ListStep more = list_step(largest, kListMorePlanes);
    more_sum = split_residual<kListMorePlanes>(lists.padded, warp_id() * 32, S::kThreads,
                                               more.scale, s.more, component);
    open.more_step = more.step;
  }
  if (lane_id() == 0) {
    s.control.sums[warp_id()] = sum;
    s.control.more_sums[warp_id()] = more_sum;
  }
  cta_sync<S::kWarps>();
  int32_t all = 0;
  open.more_sum = 0;
#pragma unroll
  for (int warp = 0; warp < S::kWarps; warp++) {
    all += s.control.sums[warp];
    open.more_sum += s.control.more_sums[warp];
  }
  open.length = sqrtf(squares);
  open.heads = {
      list_base(lists.estimates, squares, s.rotated_norm2, __uint_as_float(facts.z)), step.step,
      static_cast<float>(all) * 0.5f, list_margin(step.step, squares, lists.padded)};
  return open;
}

}  // namespace vamana
