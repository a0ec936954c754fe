// Takes lists in their order, by one warp: the nearest of each group of lists are kept.
#pragma once

#include <cstdint>

#include "cta.cuh"
#include "lists/order.cuh"
#include "lists/state.cuh"

namespace vamana {

// Finds the nearest list of each group. Keys of lists that lie elsewhere are brought in. Ends with a barrier.
template <class S>
__device__ __forceinline__ void group_lists(S& s, const uint32_t* keys) {
  const uint32_t lists = s.control.lists.lists;
  for (uint32_t group = warp_id(); group * kListsOfGroup < lists; group += S::kWarps) {
    const uint32_t from = group * kListsOfGroup;
    const uint32_t end = from + kListsOfGroup;
    if (keys != s.near) {
      // other blocks have written them
      for (uint32_t list = from + lane_id(); list < end && list < lists; list += 32) {
        s.near[list] = __ldcg(keys + list);
      }
      __syncwarp();
    }
    const uint64_t nearest = nearest_of(s, from, end < lists ? end : lists);
    if (lane_id() == 0) {
      s.groups[group] = nearest;
    }
  }
  cta_sync<S::kWarps>();
}

// The nearest list of the groups that a lane of the picker watches.
template <class S>
__device__ __forceinline__ uint64_t watched_list(const S& s) {
  uint64_t nearest = kNoKey;
  for (uint32_t group = lane_id(); group * kListsOfGroup < s.control.lists.lists; group += 32) {
    nearest = s.groups[group] < nearest ? s.groups[group] : nearest;
  }
  return nearest;
}

// Takes up to so many of the nearest lists that are left, by one warp.
template <class S>
__device__ __forceinline__ void pick_lists(S& s, uint32_t wanted) {
  const uint32_t lists = s.control.lists.lists;
  uint64_t mine = watched_list(s);
  uint32_t count = 0;
#pragma unroll 1
  for (; count < wanted; count++) {
    const uint64_t nearest = warp_min(mine);
    if (static_cast<uint32_t>(nearest >> 32) == kUnusedSlot) {
      break;
    }
    const uint32_t list = static_cast<uint32_t>(nearest);
    if (lane_id() == 0) {
      s.near[list] = kUnusedSlot;
      s.wave->picked[count] = static_cast<uint16_t>(list);
    }
    __syncwarp();
    const uint32_t group = list / kListsOfGroup;
    const uint32_t end = (group + 1) * kListsOfGroup;
    const uint64_t left = nearest_of(s, group * kListsOfGroup, end < lists ? end : lists);
    if (lane_id() == 0) {
      s.groups[group] = left;
    }
    __syncwarp();
    if (lane_id() == group % 32) {
      mine = watched_list(s);
    }
  }
  if (lane_id() == 0) {
    s.wave->picked_first = 0;
    s.wave->picked_count = count;
  }
}

}  // namespace vamana
