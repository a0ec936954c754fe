// Exact scores of candidates, the most promising first, and the nearest of all so far.
#pragma once

#include <cstdint>

#include "cta.cuh"
#include "exact.cuh"
#include "lists/residual.cuh"
#include "lists/state.cuh"
#include "merge.cuh"
#include "vamana/bytes.h"
#include "vamana/order.h"
#include "vamana/score.h"

namespace vamana {

// Puts the numbers of candidates in the order of their estimates. Ends with a barrier.
template <class S>
__device__ __forceinline__ void rank_candidates(S& s, uint32_t count) {
  for (uint32_t i = threadIdx.x; i < count; i += S::kThreads) {
    const uint64_t key = s.candidates[i];
    uint32_t rank = 0;
    for (uint32_t j = 0; j < count; j++) {
      rank += s.candidates[j] < key ? 1u : 0u;
    }
    s.ranked[rank] = static_cast<uint16_t>(i);
  }
  cta_sync<S::kWarps>();
}

// Moves the next candidates that the limit leaves open to s.ids, for one warp. Of the vectors that the visit
// limit leaves, at most.
template <class S>
__device__ __forceinline__ void take_candidates(S& s, const OpenList& open, uint32_t from,
                                                uint32_t count) {
  uint32_t taken = 0;
  uint32_t position = from;
  while (position < count && taken < kListScored) {
    const uint32_t rank = position + lane_id();
    const uint32_t candidate = rank < count ? s.ranked[rank] : 0;
    const bool keep = rank < count && s.bounds[candidate] <= s.limit;
    const uint32_t kept = __ballot_sync(kAllLanes, keep);
    const uint32_t slot = taken + __popc(kept & lanes_below());
    if (keep && slot < kListScored) {
      const uint32_t i = static_cast<uint32_t>(s.candidates[candidate]);
      s.ids[slot] = list_columns(s.control.lists, open.address, open.places,
                                 i / kListBlock * kListBlock)
                        .numbers[i % kListBlock];
    }
    const uint32_t last = __ballot_sync(kAllLanes, keep && slot == kListScored - 1);
    position += last != 0 ? static_cast<uint32_t>(__ffs(static_cast<int>(last))) : 32;
    taken += __popc(kept);
  }
  if (lane_id() == 0) {
    const uint32_t left = s.control.item.visit_limit - s.control.visited;
    taken = taken < kListScored ? taken : kListScored;
    s.control.scored = taken < left ? taken : left;
    s.control.position = position;
  }
}

// Takes sums as keys, by the place of their ordinal.
template <class S>
struct StoreKeys {
  S& s;
  uint64_t* keys;

  __device__ __forceinline__ void operator()(bool own, uint32_t place, uint32_t ordinal, Sums sums) {
    if (own) {
      const Segment& segment = s.control.segment;
      float score;
      if constexpr (S::kFormat == kByte) {
        score = byte_score(segment.similarity, segment.dimension, __float_as_int(sums.first),
                           __float_as_int(sums.second), __float_as_int(s.query_norm2));
      } else {
        score = score_of(segment.similarity, sums, s.query_norm2);
      }
      keys[place] = make_key(-score, ordinal);
    }
  }
};

// Counts hits among the new keys as if they came one after the other, and merges them into the nearest so far.
// Once there are enough of these, only keys below the last of them matter, which are few or none: nothing else
// is compared. By the block's first WARPS warps; ends with their barrier.
template <int WARPS, class S>
__device__ __forceinline__ void keep_best(S& s, uint32_t count) {
  constexpr uint32_t kThreads = WARPS * 32;
  uint32_t place = kUnusedSlot;
  const uint64_t key = threadIdx.x < count ? s.keys[threadIdx.x] : kNoKey;
  if (warp_id() == 0) {
    const bool near = lane_id() < count && (s.best_size < s.width || key < s.best[s.width - 1]);
    const uint32_t near_keys = __ballot_sync(kAllLanes, near);
    uint32_t hits = 0;
    uint32_t first = kUnusedSlot;
    if (near_keys != 0) {
      const uint32_t nearer = near ? rank_in_list(s.best, s.best_size, key) : 0;
      uint32_t earlier = 0;
      uint32_t all = 0;
      for (uint32_t left = near_keys; left != 0; left &= left - 1) {
        const uint32_t i = static_cast<uint32_t>(__ffs(static_cast<int>(left))) - 1;
        const bool less = s.keys[i] < key;
        all += less ? 1u : 0u;
        earlier += less && i < lane_id() ? 1u : 0u;
      }
      hits = __popc(__ballot_sync(kAllLanes, near && nearer + earlier < s.width));
      place = near ? nearer + all : kUnusedSlot;
      first = warp_min(place);
    }
    if (lane_id() == 0) {
      s.control.new_hits = hits;
      s.control.all_hits += hits;
      s.control.visited += count;
      s.control.near_keys = near_keys;
      s.control.first_moved = first;
    }
  }
  cta_sync<WARPS>();
  if (s.control.new_hits == 0) {
    return;
  }
  const uint32_t near_keys = s.control.near_keys;
  const uint32_t first = s.control.first_moved;
  if (first < s.best_size) {
    // from the end, so that nothing is overwritten before it is read
    for (uint32_t base = (s.best_size - 1) / kThreads * kThreads;; base -= kThreads) {
      const uint32_t i = base + threadIdx.x;
      const uint64_t entry = i < s.best_size ? s.best[i] : kNoKey;
      uint32_t moved = i;
      if (i >= first && i < s.best_size) {
        for (uint32_t left = near_keys; left != 0; left &= left - 1) {
          const uint32_t j = static_cast<uint32_t>(__ffs(static_cast<int>(left))) - 1;
          moved += s.keys[j] < entry ? 1u : 0u;
        }
      }
      cta_sync<WARPS>();
      if (moved != i && moved < s.width) {
        s.best[moved] = entry;
      }
      if (base <= first) {
        break;
      }
    }
  }
  if (place < s.width) {
    s.best[place] = key;
  }
  const uint32_t grown = s.best_size + count;
  s.best_size = grown < s.width ? grown : s.width;
  cta_sync<WARPS>();
  if (s.best_size == s.width) {
    s.limit = list_distance(s.control.lists.estimates, -key_distance(s.best[s.width - 1]),
                            s.control.segment.dimension);
  }
}

// Scores candidates as long as they may be hits. Between barriers.
template <class S>
__device__ __forceinline__ void score_candidates(S& s, const OpenList& open, uint32_t count) {
  const Segment& segment = s.control.segment;
  const Rows rows = {reinterpret_cast<const uint8_t*>(segment.raw), segment.raw_stride,
                     segment.dimension, nullptr, ((segment.raw | segment.raw_stride) & 15u) == 0};
  const uint32_t padded = up16(segment.dimension);
  rank_candidates(s, count);
  for (uint32_t position = 0; position < count;) {
    if (warp_id() == 0) {
      take_candidates(s, open, position, count);
    }
    cta_sync<S::kWarps>();
    const uint32_t scored = s.control.scored;
    position = s.control.position;
    if (scored == 0) {
      break;
    }
    exact_sums<S::kFormat, S::kWarps, Chunk<S::kFormat>::kLoads>(
        rows, segment.similarity == kEuclidean, s.query, padded, s.ids, scored, StoreKeys<S>{s, s.keys});
    cta_sync<S::kWarps>();
    keep_best<S::kWarps>(s, scored);
  }
}

}  // namespace vamana
