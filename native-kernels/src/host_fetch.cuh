// Stages of a step of walks whose neighbours the CPU fetches, see vamana/host_fetch.h.
#pragma once

#include <cstdint>

#include "cta.cuh"
#include "visited.cuh"
#include "vamana/host_fetch.h"
#include "worklist.cuh"

namespace vamana {

// The memory of the slot that a block works on.
struct FetchSlot {
  FetchState* state;
  const float* table;
  uint64_t* list;
  uint32_t* visited;
};

__device__ __forceinline__ FetchSlot fetch_slot(const HostFetch& p) {
  const uint64_t slot = reinterpret_cast<const uint32_t*>(p.slots)[blockIdx.x];
  return {reinterpret_cast<FetchState*>(p.states) + slot,
          reinterpret_cast<const float*>(p.tables) + slot * p.table_stride,
          reinterpret_cast<uint64_t*>(p.lists) + slot * p.list_capacity,
          reinterpret_cast<uint32_t*>(p.visited) + slot * p.visited_slots};
}

// Writes the neighbours that were not seen before to ids, in the order of the row, and returns how
// many get distances. Counts the step. For one warp.
__device__ __forceinline__ uint32_t filter_row(const HostFetch& p, const FetchSlot& slot,
                                               uint32_t* ids) {
  FetchState& state = *slot.state;
  uint32_t flags = state.flags;
  uint32_t count = 0;
  const uint4* row = reinterpret_cast<const uint4*>(p.rows) +
                     static_cast<uint64_t>(blockIdx.x) * (p.row_stride / 4);
  for (uint32_t from = 0; flags == 0 && from < p.row_stride / 4; from += 32) {
    uint4 four = {kUnusedSlot, kUnusedSlot, kUnusedSlot, kUnusedSlot};
    if (from + lane_id() < p.row_stride / 4) {
      four = __ldg(row + from + lane_id());
    }
    const uint32_t ordinals[4] = {four.x, four.y, four.z, four.w};
    uint32_t valid = 0;
    bool corrupt = false;
#pragma unroll
    for (int i = 0; i < 4; i++) {
      if (ordinals[i] < state.size) {
        valid |= 1u << i;
      } else {
        corrupt |= ordinals[i] != kUnusedSlot;
      }
    }
    const uint32_t add =
        state.visit_limit == kUnlimited
            ? visited_add<4>(slot.visited, p.visited_slots, ordinals, valid)
            : visited_add_row_in_order(slot.visited, p.visited_slots, four, valid);
    uint32_t place = count;
#pragma unroll
    for (int i = 0; i < 4; i++) {
      const uint32_t fresh = __ballot_sync(kAllLanes, (add >> i & 1u) != 0);
      place += __popc(fresh & lanes_below());
      count += __popc(fresh);
    }
#pragma unroll
    for (int i = 0; i < 4; i++) {
      if ((add >> i & 1u) != 0) {
        ids[place++] = ordinals[i];
      }
    }
    if (__any_sync(kAllLanes, corrupt)) {
      flags |= kCorrupt;
    }
  }
  const uint32_t allowed = state.visit_limit - state.visited;
  if (count > allowed) {
    count = allowed;
    flags |= kStopped;
  }
  count = (flags & kCorrupt) != 0 ? 0 : count;
  __syncwarp();
  if (lane_id() == 0) {
    state.iterations += state.picked > 0 && (state.flags & kComplete) == 0 ? 1 : 0;
    state.picked = 0;
    state.visited += count;
    state.flags = flags;
  }
  __syncwarp();
  return count;
}

// A lane's share of the sum of the entries that a code names: each kFetchGroup-th word of the code.
__device__ __forceinline__ float lane_sum(const FetchState& state, const float* table,
                                          uint32_t ordinal, uint32_t lane) {
  const uint32_t* code = reinterpret_cast<const uint32_t*>(
      state.codes + static_cast<uint64_t>(ordinal) * state.code_stride);
  float sum = 0;
#pragma unroll 1
  for (uint32_t word = lane; word * 4 < state.subspaces; word += kFetchGroup) {
    const uint32_t centroids = __ldg(code + word);
    const float* entries = table + word * 4 * kCentroids;
#pragma unroll
    for (uint32_t b = 0; b < 4; b++) {
      if (word * 4 + b < state.subspaces) {
        sum += __ldg(entries + b * kCentroids + (centroids >> (8 * b) & 0xFFu));
      }
    }
  }
  return sum;
}

// Keys of so many ids. Groups of kFetchGroup threads add up one distance each, through shuffles. All
// threads of the block call it.
__device__ __forceinline__ void group_distances(const FetchState& state, const float* table,
                                                const uint32_t* ids, uint32_t count,
                                                uint64_t* keys) {
  const uint32_t lane = threadIdx.x % kFetchGroup;
#pragma unroll 1
  for (uint32_t from = 0; from < count; from += kFetchThreads / kFetchGroup) {
    const uint32_t i = from + threadIdx.x / kFetchGroup;
    const uint32_t ordinal = ids[i < count ? i : from];
    float sum = lane_sum(state, table, ordinal, lane);
#pragma unroll
    for (int stride = kFetchGroup / 2; stride > 0; stride >>= 1) {
      sum += __shfl_xor_sync(kAllLanes, sum, stride);
    }
    if (lane == 0 && i < count) {
      keys[i] = make_key(sum, ordinal);
    }
  }
}

// Drops new keys that the worklist has or would not take, in place; returns how many are left. For
// one warp.
__device__ __forceinline__ uint32_t drop_keys(const FetchState& state, const uint64_t* list,
                                              uint64_t* keys, uint32_t count) {
  const uint32_t size = state.list_size;
  const uint64_t worst = size == state.beam ? unmarked(list[size - 1]) : kNoKey;
  uint32_t kept_count = 0;
  for (uint32_t from = 0; from < count; from += 32) {
    const uint32_t i = from + lane_id();
    const uint64_t key = i < count ? keys[i] : kNoKey;
    bool keep = key < worst;
    if (keep) {
      const uint32_t rank = rank_in_list(list, size, key);
      keep = rank == size || unmarked(list[rank]) != key;
    }
    const uint32_t kept = __ballot_sync(kAllLanes, keep);
    // keys move to where other lanes have just read theirs
    __syncwarp();
    if (keep) {
      keys[kept_count + __popc(kept & lanes_below())] = key;
    }
    kept_count += __popc(kept);
    __syncwarp();
  }
  return kept_count;
}

// The worklist takes the sorted new keys in; then the next parents are marked and picked (section 4.6).
// All threads of the block call it, after a barrier; ranks and shared_count are in shared memory.
template <int WARPS>
__device__ __forceinline__ void take_keys(const HostFetch& p, const FetchSlot& slot,
                                          uint64_t* keys, uint32_t* ranks, uint32_t count,
                                          uint32_t* shared_count) {
  FetchState& state = *slot.state;
  Worklist list = {slot.list, state.list_size, state.cursor};
  merge_sorted_keys<WARPS>(list, state.beam, keys, ranks, count, shared_count);
  if (warp_id() != 0) {
    return;
  }
  uint32_t* picks = reinterpret_cast<uint32_t*>(p.picks) +
                    static_cast<uint64_t>(blockIdx.x) * p.parents;
  uint32_t picked = 0;
  uint32_t flags = state.flags;
  while (flags == 0 && picked < p.parents) {
    const uint32_t open = next_unexpanded(list);
    list.cursor = open;
    if (open == list.size) {
      break;
    }
    const uint64_t key = list.keys[open];
    __syncwarp();
    if (lane_id() == 0) {
      list.keys[open] = key | kExpanded;
      picks[picked] = key_ordinal(key);
    }
    list.cursor = open + 1;
    picked++;
    __syncwarp();
  }
  for (uint32_t i = picked + lane_id(); i < p.parents; i += 32) {
    picks[i] = kUnusedSlot;
  }
  flags |= flags == 0 && picked == 0 ? kComplete : 0u;
  __syncwarp();
  if (lane_id() == 0) {
    state.list_size = list.size;
    state.cursor = list.cursor;
    state.picked = picked;
    state.flags = flags;
  }
}

}  // namespace vamana
