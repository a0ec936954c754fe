// Components of an item's query, as floats.
#pragma once

#include <cstdint>

#include "vamana/types.h"

namespace vamana {

__device__ __forceinline__ float query_component(const Segment& segment, const Item& item,
                                                 uint32_t d) {
  return segment.byte_scoring != 0
             ? static_cast<float>(reinterpret_cast<const int8_t*>(item.query)[d])
             : reinterpret_cast<const float*>(item.query)[d];
}

// As query_component of d..d+3, of which those from the dimension on are 0. Queries begin at multiples of
// 16 bytes, and what lies up to the next multiple behind them belongs to them.
__device__ __forceinline__ float4 query_components(const Segment& segment, const Item& item,
                                                   uint32_t d) {
  float4 q = {0, 0, 0, 0};
  if (d >= segment.dimension) {
    return q;
  }
  if (segment.byte_scoring != 0) {
    const uint32_t word = reinterpret_cast<const uint32_t*>(item.query)[d / 4];
    q = {static_cast<float>(static_cast<int8_t>(word)),
         static_cast<float>(static_cast<int8_t>(word >> 8)),
         static_cast<float>(static_cast<int8_t>(word >> 16)),
         static_cast<float>(static_cast<int8_t>(word >> 24))};
  } else {
    q = reinterpret_cast<const float4*>(item.query)[d / 4];
  }
  const uint32_t left = segment.dimension - d;
  q.y = left > 1 ? q.y : 0;
  q.z = left > 2 ? q.z : 0;
  q.w = left > 3 ? q.w : 0;
  return q;
}

// Passes the query's components to take(d, component), four neighbours by a thread, up to `end`, a multiple
// of four; those from the dimension on are 0. The query is in the host's memory: a thread requests
// sixteen components before it uses the first, since each request takes microseconds.
template <uint32_t THREADS, class Take>
__device__ __forceinline__ void read_query(const Segment& segment, const Item& item, uint32_t end,
                                           Take take) {
  constexpr uint32_t kAhead = 4;
#pragma unroll 1
  for (uint32_t from = threadIdx.x * 4; from < end; from += THREADS * 4 * kAhead) {
    float4 q[kAhead];
#pragma unroll
    for (uint32_t i = 0; i < kAhead; i++) {
      q[i] = query_components(segment, item, from + i * THREADS * 4);
    }
#pragma unroll
    for (uint32_t i = 0; i < kAhead; i++) {
      const uint32_t d = from + i * THREADS * 4;
      if (d < end) {
        take(d, q[i].x);
        take(d + 1, q[i].y);
        take(d + 2, q[i].z);
        take(d + 3, q[i].w);
      }
    }
  }
}

}  // namespace vamana
