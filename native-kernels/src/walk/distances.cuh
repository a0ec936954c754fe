// Distances of the nodes in w.ids, and the keys they become.
#pragma once

#include <cstdint>

#include "../asymmetric.cuh"
#include "../cta.cuh"
#include "../exact.cuh"
#include "../worklist.cuh"
#include "state.cuh"
#include "vamana/order.h"
#include "vamana/score.h"

namespace vamana {

// Sums of the ids in w.ids, by their place there.
template <class W>
__device__ __forceinline__ void distances(W& w, uint32_t count) {
  Sums* sums = reinterpret_cast<Sums*>(w.keys);
  const Segment& segment = w.control.segment;
  if constexpr (W::kExact) {
    Rows rows = {reinterpret_cast<const uint8_t*>(segment.vectors),
                 segment.vector_stride,
                 segment.dimension,
                 segment.vector_scale,
                 segment.vector_offset,
                 segment.vector_flip,
                 true};
    // one warp has other blocks to hide its latency behind, and registers bound their number
    constexpr int kLoads = (W::kWarps == 1 ? 1 : 2) * Chunk<W::kFormat>::kLoads;
    exact_sums<W::kFormat, W::kWarps, kLoads>(rows, segment.similarity == kEuclidean, w.query,
                                              w.padded, w.ids, count, sums);
  } else if constexpr (W::kPolicy == kTableHalf) {
    asymmetric_sums<uint16_t, W::kWarps>(segment, reinterpret_cast<const uint16_t*>(w.table), w.ids,
                                         count, sums);
  } else {
    asymmetric_sums<float, W::kWarps>(segment, reinterpret_cast<const float*>(w.table), w.ids,
                                      count, sums);
  }
}

// Turns the sums of the ids in w.ids into keys, in place, and drops those that the list would not
// take. The first warp does it, 32 at a time; GROUP is 1 if it is alone, otherwise all warps get
// the count.
template <int GROUP, class W>
__device__ __forceinline__ uint32_t make_keys(W& w, uint32_t count, uint32_t capacity,
                                              const Worklist& list, bool scores) {
  uint32_t kept_count = 0;
  if (warp_id() == 0) {
    const Segment& segment = w.control.segment;
    const uint64_t worst =
        list.size == capacity ? unmarked(list.keys[list.size - 1]) : kNoKey;
    for (uint32_t from = 0; from < count; from += 32) {
      uint32_t i = from + lane_id();
      uint64_t key = kNoKey;
      if (i < count) {
        Sums sums = reinterpret_cast<const Sums*>(w.keys)[i];
        float distance = scores ? -score_of(segment.similarity, segment.byte_scoring != 0,
                                            segment.dimension, sums, w.query_norm2)
                                : sums.first;
        key = make_key(distance, w.ids[i]);
      }
      uint32_t kept = __ballot_sync(kAllLanes, key < worst);
      if (key < worst) {
        w.keys[kept_count + __popc(kept & lanes_below())] = key;
      }
      kept_count += __popc(kept);
      __syncwarp();
    }
    if (GROUP > 1 && lane_id() == 0) {
      w.control.key_count = kept_count;
    }
  }
  if constexpr (GROUP > 1) {
    __syncthreads();
    kept_count = w.control.key_count;
  }
  return kept_count;
}

}  // namespace vamana
