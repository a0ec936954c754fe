// Distances of the nodes in w.ids, and the keys they become.
#pragma once

#include <cstdint>

#include "asymmetric.cuh"
#include "cta.cuh"
#include "exact.cuh"
#include "worklist.cuh"
#include "walk/state.cuh"
#include "vamana/order.h"
#include "vamana/score.h"

namespace vamana {

// Sums of the ids in w.ids, which `take` gets.
template <class W, class Take>
__device__ __forceinline__ void distances(W& w, uint32_t count, Take take) {
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
    constexpr int kLoads =
        (W::kWarps == 1 || W::kFormat == kFloat16 ? 1 : 2) * Chunk<W::kFormat>::kLoads;
    exact_sums<W::kFormat, W::kWarps, kLoads>(rows, segment.similarity == kEuclidean, w.query,
                                              w.padded, w.ids, count, take);
  } else if constexpr (W::kPolicy == kTableHalf) {
    asymmetric_sums<uint16_t, W::kWarps>(segment, reinterpret_cast<const uint16_t*>(w.table), w.ids,
                                         count, take);
  } else {
    asymmetric_sums<float, W::kWarps>(segment, reinterpret_cast<const float*>(w.table), w.ids,
                                      count, take);
  }
}

template <class W>
__device__ __forceinline__ uint64_t key_of(const W& w, bool scores, Sums sums, uint32_t ordinal) {
  const Segment& segment = w.control.segment;
  const float distance = scores ? -score_of(segment.similarity, segment.byte_scoring != 0,
                                            segment.dimension, sums, w.query_norm2)
                                : sums.first;
  return make_key(distance, ordinal);
}

// Takes sums as the keys they become, those below `worst`, in any order; counts them in
// control.key_count. Rows of keys below `near` will be wanted soon.
template <class W>
struct KeepKeys {
  W& w;
  uint64_t worst;
  uint64_t near;
  bool scores;

  __device__ __forceinline__ void operator()(bool own, uint32_t place, uint32_t ordinal, Sums sums) {
    const uint64_t key = own ? key_of(w, scores, sums, ordinal) : kNoKey;
    const uint32_t slot = append_slot(key < worst, &w.control.key_count);
    if (key < worst) {
      w.keys[slot] = key;
      if (key < near) {
        prefetch_row(w, ordinal);
      }
    }
  }
};

// Turns the sums of the ids in w.ids into keys, in place, and drops those that the list would not
// take; by one warp, 32 at a time.
template <class W>
__device__ __forceinline__ uint32_t make_keys(W& w, uint32_t count, uint32_t capacity,
                                              const Worklist& list, bool scores) {
  uint32_t kept_count = 0;
  const uint64_t worst = list.size == capacity ? unmarked(list.keys[list.size - 1]) : kNoKey;
  for (uint32_t from = 0; from < count; from += 32) {
    uint32_t i = from + lane_id();
    uint64_t key = kNoKey;
    if (i < count) {
      key = key_of(w, scores, reinterpret_cast<const Sums*>(w.keys)[i], w.ids[i]);
    }
    uint32_t kept = __ballot_sync(kAllLanes, key < worst);
    // keys go where other lanes have just read their sums
    __syncwarp();
    if (key < worst) {
      w.keys[kept_count + __popc(kept & lanes_below())] = key;
    }
    kept_count += __popc(kept);
    __syncwarp();
  }
  return kept_count;
}

}  // namespace vamana
