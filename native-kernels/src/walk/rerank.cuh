// Exact scores of the best candidates (BANG, section 4.9).
#pragma once

#include <cstdint>

#include "counting.cuh"
#include "cta.cuh"
#include "exact.cuh"
#include "query.cuh"
#include "worklist.cuh"
#include "walk/distances.cuh"
#include "walk/state.cuh"
#include "vamana/order.h"

namespace vamana {

template <class W>
__device__ __forceinline__ bool accepts(const W& w, uint32_t ordinal) {
  const uint64_t* words = reinterpret_cast<const uint64_t*>(w.control.item.accepted);
  return words == nullptr || (words[ordinal >> 6] >> (ordinal & 63u) & 1u) != 0;
}

// Moves the accepted of the entries from..from+31 of the list (or of the expanded nodes) to w.ids,
// at most `room` of them, and returns how many. For all threads, between barriers.
template <class W>
__device__ __forceinline__ uint32_t take_accepted(W& w, uint32_t from, uint32_t to, bool expanded,
                                                  uint32_t room) {
  if (warp_id() == 0) {
    uint32_t i = from + lane_id();
    uint32_t ordinal = 0;
    bool keep = i < to;
    if (keep) {
      ordinal = expanded ? w.expanded[i] : key_ordinal(w.list.keys[i]);
      keep = accepts(w, ordinal);
    }
    uint32_t kept = __ballot_sync(kAllLanes, keep);
    uint32_t slot = __popc(kept & lanes_below());
    if (keep && slot < room) {
      w.ids[slot] = ordinal;
    }
    if (lane_id() == 0) {
      uint32_t count = __popc(kept);
      w.control.fresh_count = count < room ? count : room;
    }
  }
  cta_sync<W::kWarps>();
  return w.control.fresh_count;
}

// Lays the query out for the format of the raw vectors. It is read again if a thread has several
// components, and if it was made of unit length, for tables of cosines.
template <class W>
__device__ __forceinline__ void relay_query(W& w) {
  const Segment& segment = w.control.segment;
  const Item& item = w.control.item;
  const bool here = W::kExact == false && segment.dimension <= W::kThreads &&
                    segment.similarity != kCosine;
  const bool bytes = W::kExact == false && segment.raw_format == kByte;
  const float q = here && threadIdx.x < segment.dimension ? w.query[threadIdx.x] : 0;
  uint32_t squares = 0;
  cta_sync<W::kWarps>();
  const auto place = [&](uint32_t d, float q) {
    if (bytes) {
      squares += static_cast<uint32_t>(static_cast<int32_t>(q) * static_cast<int32_t>(q));
    }
    w.query[bytes ? query_place<kByte>(d, w.padded) : query_place<kFloat32>(d, w.padded)] = q;
  };
  if (here == false) {
    read_query<W::kThreads>(segment, item, w.padded, place);
  } else if (threadIdx.x < w.padded) {
    place(threadIdx.x, q);
  }
  cta_sync<W::kWarps>();
  if (bytes) {
    w.query_norm2 = __uint_as_float(cta_sum<W::kWarps>(squares, w.keys));
    pack_query<W::kThreads>(w.query, w.padded, kWholeBytes);
    cta_sync<W::kWarps>();
  }
}

// Sums of the ids in w.ids from raw vectors, which `take` gets.
template <class W, class Take>
__device__ __forceinline__ void raw_sums(W& w, const Rows& rows, uint32_t count, Take take) {
  const bool euclidean = w.control.segment.similarity == kEuclidean;
  if (W::kExact == false && w.control.segment.raw_format == kByte) {
    exact_sums<kByte, W::kWarps, 1>(rows, euclidean, w.query, w.padded, w.ids, count, take);
  } else {
    exact_sums<kFloat32, W::kWarps, 2>(rows, euclidean, w.query, w.padded, w.ids, count, take);
  }
}

// Replaces the list by the k best candidates with their exact distances. The result grows over
// entries that have been read.
template <class W>
__device__ __forceinline__ void rerank(W& w) {
  const Segment& segment = w.control.segment;
  const Item& item = w.control.item;
  const bool expanded = item.rerank < 0;
  const uint32_t candidates = expanded ? w.expanded_count : w.list.size;
  uint32_t room = expanded ? candidates : static_cast<uint32_t>(item.rerank);
  clear_taken(w);
  relay_query(w);
  Rows rows = {reinterpret_cast<const uint8_t*>(segment.raw),
               segment.raw_stride,
               segment.dimension,
               nullptr,
               ((segment.raw | segment.raw_stride) & 15u) == 0};
  Worklist best = {w.list.keys, 0, 0};
  for (uint32_t from = 0; from < candidates && room > 0; from += 32) {
    if (W::kWarps > 1 && threadIdx.x == 0) {
      w.control.key_count = 0;
    }
    uint32_t count = take_accepted(w, from, candidates, expanded, room);
    room -= count;
    if constexpr (W::kWarps == 1) {
      raw_sums(w, rows, count, StoreSums{reinterpret_cast<Sums*>(w.keys)});
      __syncwarp();
      count = make_keys(w, count, item.k, best, true);
      merge_new_keys<1>(best, item.k, w.keys, w.ids, count, &w.control.merge_count);
    } else {
      const uint64_t worst = best.size == item.k ? unmarked(best.keys[best.size - 1]) : kNoKey;
      raw_sums(w, rows, count, KeepKeys<W>{w, worst, 0, true});
      __syncthreads();
      count = w.control.key_count;
      merge_together<W::kWarps>(best, item.k, w.keys, w.ids, count, &w.control.merge_count,
                                taken_places(w));
    }
  }
  w.list.size = best.size;
  cta_sync<W::kWarps>();
}

}  // namespace vamana
