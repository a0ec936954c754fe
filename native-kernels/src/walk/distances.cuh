// Distances of the nodes in w.ids, and the keys they become.
#pragma once

#include <cstdint>

#include "asymmetric.cuh"
#include "byte_rows.cuh"
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
                 reinterpret_cast<const ByteFacts*>(segment.vector_facts),
                 true,
                 W::kFormat == kByte && w.control.whole != 0};
    // halves and bytes take registers to unpack, and one warp has other blocks to hide its latency behind
    constexpr bool kFew = W::kFormat == kFloat16 || (W::kFormat == kByte && W::kWarps == 1);
    constexpr int kLoads = (kFew ? 1 : 2) * Chunk<W::kFormat>::kLoads;
    if constexpr (W::kFormat == kByte && kRowsAtOnce<W::kWarps, true> > 0) {
      if (rows.stride <= kManyRowsBytes) {
        if (rows.whole) {
          byte_sums<W::kWarps, true>(rows, w.query, w.padded, w.ids, count, take);
        } else {
          byte_sums<W::kWarps, false>(rows, w.query, w.padded, w.ids, count, take);
        }
        return;
      }
    }
    if constexpr (Take::kTogether) {
      exact_kept_sums<W::kFormat, W::kWarps, kLoads>(rows, segment.similarity == kEuclidean,
                                                     w.query, w.padded, w.ids, count, take);
    } else {
      exact_sums<W::kFormat, W::kWarps, kLoads, W::kFormat == kByte>(
          rows, segment.similarity == kEuclidean, w.query, w.padded, w.ids, count, take);
    }
  } else if constexpr (W::kPolicy == kTableHalf) {
    asymmetric_sums<uint16_t, W::kWarps>(segment, reinterpret_cast<const uint16_t*>(w.table), w.ids,
                                         count, take);
  } else {
    asymmetric_sums<float, W::kWarps>(segment, reinterpret_cast<const float*>(w.table), w.ids,
                                      count, take);
  }
}

// Lucene's score from the sums of a vector of bytes.
__device__ __forceinline__ float byte_score_of(const Segment& segment, Sums sums,
                                               float query_norm2) {
  return byte_score(segment.similarity, segment.dimension, __float_as_int(sums.first),
                    __float_as_int(sums.second), __float_as_int(query_norm2));
}

// The distance by which keys are ordered; `raw` if the sums are of raw vectors, for re-ranking.
template <class W>
__device__ __forceinline__ float distance_of(const W& w, bool raw, Sums sums) {
  const Segment& segment = w.control.segment;
  if constexpr (W::kPolicy == kExactByte) {
    // what is re-ranked are copies, of floats
    if (raw == false) {
      return segment.vector_facts != 0 && w.control.whole == 0
                 ? -copy_score(segment.similarity, sums, w.control.query)
                 : -byte_score_of(segment, sums, w.query_norm2);
    }
  } else if constexpr (W::kExact == false) {
    if (raw == false) {
      return sums.first;
    }
    if (segment.byte_scoring != 0) {
      return -byte_score_of(segment, sums, w.query_norm2);
    }
  }
  return -score_of(segment.similarity, sums, w.query_norm2);
}

template <class W>
__device__ __forceinline__ uint64_t key_of(const W& w, bool raw, Sums sums, uint32_t ordinal) {
  return make_key(distance_of(w, raw, sums), ordinal);
}

// Takes sums as the keys they become, those below `worst`, in any order; counts them in
// control.key_count. Rows of keys below `near` will be wanted soon.
template <class W>
struct KeepKeys {
  // of bytes that is faster, of floats as fast
  static constexpr bool kTogether = W::kFormat == kByte;

  W& w;
  uint64_t worst;
  uint64_t near;
  bool raw;

  __device__ __forceinline__ void operator()(bool own, uint32_t place, uint32_t ordinal, Sums sums) {
    const uint64_t key = own ? key_of(w, raw, sums, ordinal) : kNoKey;
    const uint32_t slot = append_slot(key < worst, &w.control.key_count);
    if (key < worst) {
      w.keys[slot] = key;
      if (key < near) {
        prefetch_row(w, ordinal);
      }
    }
  }
};

// Takes sums of many rows at once as the keys they become, those below `worst`, in any order; counts them
// in *count, a word of shared memory if the block has several warps, otherwise each lane's own.
template <class W>
struct KeepNearKeys {
  static constexpr bool kTogether = true;

  W& w;
  uint64_t worst;
  uint32_t* count;

  __device__ __forceinline__ void operator()(bool own, uint32_t place, uint32_t ordinal, Sums sums) {
    const uint64_t key = own ? key_of(w, false, sums, ordinal) : kNoKey;
    const uint32_t near = __ballot_sync(kAllLanes, key < worst);
    if (near == 0) {
      return;
    }
    uint32_t slot = *count;
    if constexpr (W::kWarps > 1) {
      slot = lane_id() == 0 ? atomicAdd(count, static_cast<uint32_t>(__popc(near))) : 0;
      slot = __shfl_sync(kAllLanes, slot, 0);
    } else {
      *count = slot + __popc(near);
    }
    if (key < worst) {
      w.keys[slot + __popc(near & lanes_below())] = key;
    }
  }
};

// Turns the sums of the ids in w.ids into keys, in place, and drops keys that the list would not take.
// By one warp, 32 at a time.
template <class W>
__device__ __forceinline__ uint32_t make_keys(W& w, uint32_t count, uint32_t capacity,
                                              const Worklist& list, bool raw) {
  uint32_t kept_count = 0;
  const uint64_t worst = list.size == capacity ? unmarked(list.keys[list.size - 1]) : kNoKey;
  for (uint32_t from = 0; from < count; from += 32) {
    uint32_t i = from + lane_id();
    uint64_t key = kNoKey;
    if (i < count) {
      key = key_of(w, raw, reinterpret_cast<const Sums*>(w.keys)[i], w.ids[i]);
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
