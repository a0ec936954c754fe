// The order of lists: each thread watches some of them, and the block takes the nearest of all.
#pragma once

#include <cstdint>

#include "cta.cuh"
#include "exact.cuh"
#include "lists/state.cuh"

namespace vamana {

// The nearest of the lists from..to-1, for the lanes of a warp together.
template <class S>
__device__ __forceinline__ uint64_t nearest_of(const S& s, uint32_t from, uint32_t to) {
  uint64_t nearest = kNoKey;
  for (uint32_t list = from + lane_id(); list < to; list += 32) {
    const uint64_t key = static_cast<uint64_t>(s.near[list]) << 32 | list;
    nearest = key < nearest ? key : nearest;
  }
  return warp_min(nearest);
}

// Distances to all centroids, as keys of the lists. Ends with a barrier.
template <class S>
__device__ __forceinline__ void measure_lists(S& s) {
  const Lists& lists = s.control.lists;
  constexpr int kVectors = Chunk<kFloat32>::kVectors;
  constexpr uint32_t kTeams = S::kThreads / kTeam;
  const Rows rows = {reinterpret_cast<const uint8_t*>(lists.centroids), lists.padded * 4,
                     lists.padded, nullptr, true};
  const uint32_t team = threadIdx.x / kTeam;
  const uint32_t lane = threadIdx.x & (kTeam - 1);
#pragma unroll 1
  for (uint32_t from = 0; from < lists.lists; from += kTeams * kVectors) {
    uint32_t own[kVectors];
    Sums sums[kVectors];
#pragma unroll
    for (int v = 0; v < kVectors; v++) {
      const uint32_t list = from + v * kTeams + team;
      own[v] = list < lists.lists ? list : from;
    }
    const uint32_t list = from + lane * kTeams + team;
    const bool known = lane < kVectors && list < lists.lists;
    uint4 words = {0, 0, 0, 0};
    if (known) {
      words = __ldg(reinterpret_cast<const uint4*>(lists.facts) + list);
    }
    team_sums<kFloat32, 2>(rows, true, s.rotated, lists.padded, own, sums);
    float squares = sums[0].first;
#pragma unroll
    for (int v = 1; v < kVectors; v++) {
      squares = lane == v ? sums[v].first : squares;
    }
    if (known) {
      const ListFacts facts = {words.x, __uint_as_float(words.y), __uint_as_float(words.z), 0};
      s.near[list] = list_key(lists, facts, squares, s.rotated_norm2);
    }
  }
  cta_sync<S::kWarps>();
}

// Distances to all centroids; each thread gets its lists to watch.
template <class S>
__device__ __forceinline__ void order_lists(S& s) {
  const Lists& lists = s.control.lists;
  s.watched = (lists.lists + S::kThreads - 1) / S::kThreads;
  measure_lists(s);
  const uint32_t from = threadIdx.x * s.watched;
  const uint32_t to = from + s.watched < lists.lists ? from + s.watched : lists.lists;
  s.mine = kNoKey;
  for (uint32_t list = from; list < to; list++) {
    const uint64_t key = static_cast<uint64_t>(s.near[list]) << 32 | list;
    s.mine = key < s.mine ? key : s.mine;
  }
}

// The nearest list that was not taken; kUnusedSlot if there is none. Has one barrier.
template <class S>
__device__ __forceinline__ uint32_t nearest_list(S& s) {
  const uint64_t of_warp = warp_min(s.mine);
  if (lane_id() == 0) {
    s.control.nearest[warp_id()] = of_warp;
  }
  cta_sync<S::kWarps>();
  uint64_t nearest = s.control.nearest[0];
#pragma unroll
  for (int warp = 1; warp < S::kWarps; warp++) {
    const uint64_t other = s.control.nearest[warp];
    nearest = other < nearest ? other : nearest;
  }
  return static_cast<uint32_t>(nearest >> 32) == kUnusedSlot ? kUnusedSlot
                                                             : static_cast<uint32_t>(nearest);
}

// Takes a list, which its watcher forgets.
template <class S>
__device__ __forceinline__ void take_list(S& s, uint32_t list) {
  const uint32_t watcher = list / s.watched;
  if (watcher / 32 != warp_id()) {
    return;
  }
  if (lane_id() == 0) {
    s.near[list] = kUnusedSlot;
  }
  __syncwarp();
  const uint32_t from = watcher * s.watched;
  const uint32_t end = from + s.watched;
  const uint64_t nearest =
      nearest_of(s, from, end < s.control.lists.lists ? end : s.control.lists.lists);
  if (threadIdx.x == watcher) {
    s.mine = nearest;
  }
}

}  // namespace vamana
