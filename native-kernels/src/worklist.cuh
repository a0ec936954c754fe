// The worklist: the nearest nodes seen, nearest first, in shared memory (BANG, section 4.8).
#pragma once

#include <cstdint>

#include "cta.cuh"
#include "merge.cuh"
#include "sort.cuh"
#include "vamana/order.h"

namespace vamana {

struct Worklist {
  uint64_t* keys;
  uint32_t size;
  uint32_t cursor;  // no entry before it is unexpanded
};

// Drops repeated keys and those the list has, and finds the places of the others. Called by the
// first warp; keys are sorted. Returns how many are left.
__device__ __forceinline__ uint32_t rank_new_keys(const uint64_t* list, uint32_t size,
                                                  uint64_t* keys, uint32_t* ranks,
                                                  uint32_t count) {
  uint32_t left = 0;
  uint64_t last = kNoKey;
  for (uint32_t from = 0; from < count; from += 32) {
    uint32_t e = from + lane_id();
    uint64_t key = e < count ? keys[e] : kNoKey;
    uint64_t previous = __shfl_up_sync(kAllLanes, key, 1);
    if (lane_id() == 0) {
      previous = last;
    }
    last = __shfl_sync(kAllLanes, key, 31);
    uint32_t rank = 0;
    bool keep = e < count && key != previous;
    if (keep) {
      rank = rank_in_list(list, size, key);
      keep = rank == size || unmarked(list[rank]) != key;
    }
    uint32_t kept = __ballot_sync(kAllLanes, keep);
    // keys move to where other lanes have just read theirs
    __syncwarp();
    if (keep) {
      uint32_t to = left + __popc(kept & lanes_below());
      keys[to] = key;
      ranks[to] = rank;
    }
    left += __popc(kept);
    __syncwarp();
  }
  return left;
}

// Merges count sorted new keys into the list, of which the nearest `capacity` stay. All threads call
// it, when the first warp may read the keys; shared_count is a word of shared memory for its use.
// Ends with a barrier, unless there are no keys.
template <int WARPS>
__device__ __forceinline__ void merge_sorted_keys(Worklist& list, uint32_t capacity, uint64_t* keys,
                                                  uint32_t* ranks, uint32_t count,
                                                  uint32_t* shared_count) {
  if (count == 0) {
    return;
  }
  uint32_t left = 0;
  if (warp_id() == 0) {
    left = rank_new_keys(list.keys, list.size, keys, ranks, count);
    if (WARPS > 1 && lane_id() == 0) {
      *shared_count = left;
    }
  }
  if constexpr (WARPS > 1) {
    __syncthreads();
    left = *shared_count;
  }
  if (left == 0) {
    cta_sync<WARPS>();
    return;
  }
  uint32_t first = ranks[0];
  // From the end, so that an entry's new place is free or already read.
  constexpr uint32_t kChunk = WARPS * 32;
  for (uint32_t end = list.size; end > first;) {
    uint32_t start = end > first + kChunk ? end - kChunk : first;
    uint32_t i = start + threadIdx.x;
    uint64_t key = 0;
    uint32_t place = capacity;
    if (i < end) {
      key = list.keys[i];
      place = i + shift_of(ranks, left, i);
    }
    cta_sync<WARPS>();
    if (place < capacity) {
      list.keys[place] = key;
    }
    cta_sync<WARPS>();
    end = start;
  }
  for (uint32_t j = threadIdx.x; j < left; j += kChunk) {
    uint32_t place = ranks[j] + j;
    if (place < capacity) {
      list.keys[place] = keys[j];
    }
  }
  uint32_t size = list.size + left;
  list.size = size < capacity ? size : capacity;
  list.cursor = first < list.cursor ? first : list.cursor;
  cta_sync<WARPS>();
}

// Merges a few new keys, in any order, into a list of up to 32 * PER_LANE entries, by one warp, without
// sorting and searching: each lane counts for its entries and its new key. False if keys are repeated;
// then nothing has changed.
template <int PER_LANE>
__device__ __forceinline__ bool merge_few(Worklist& list, uint32_t capacity, const uint64_t* keys,
                                          uint32_t count) {
  uint64_t entries[PER_LANE];
  uint32_t places[PER_LANE];
#pragma unroll
  for (int r = 0; r < PER_LANE; r++) {
    const uint32_t i = r * 32 + lane_id();
    entries[r] = i < list.size ? list.keys[i] : kNoKey;
    places[r] = i;
  }
  const uint64_t own = lane_id() < count ? keys[lane_id()] : kNoKey;
  uint32_t listed = 0;  // entries up to this lane's new key
  uint32_t before = 0;  // new keys before it
  bool repeated = false;
#pragma unroll 2
  for (uint32_t j = 0; j < count; j++) {
    const uint64_t key = keys[j];
    before += key < own ? 1 : 0;
    repeated |= key == own && j < lane_id();
    uint32_t up_to = 0;
#pragma unroll
    for (int r = 0; r < PER_LANE; r++) {
      const bool behind = key < unmarked(entries[r]);
      places[r] += behind ? 1 : 0;
      up_to += 32 - __popc(__ballot_sync(kAllLanes, behind));
    }
    listed = j == lane_id() ? up_to : listed;
  }
  if (lane_id() < count) {
    repeated |= listed > 0 && unmarked(list.keys[listed - 1]) == own;
  } else {
    repeated = false;
  }
  if (__any_sync(kAllLanes, repeated)) {
    return false;
  }
  // entries move to where other lanes have just read
  __syncwarp();
#pragma unroll
  for (int r = 0; r < PER_LANE; r++) {
    // an entry that stays where it is needs no store
    if (places[r] != r * 32 + lane_id() && places[r] < capacity && entries[r] != kNoKey) {
      list.keys[places[r]] = entries[r];
    }
  }
  const uint32_t place = listed + before;
  if (lane_id() < count && place < capacity) {
    list.keys[place] = own;
  }
  const uint32_t size = list.size + count;
  list.size = size < capacity ? size : capacity;
  list.cursor = 0;
  __syncwarp();
  return true;
}

// Sorts count new keys and merges them. All threads call it, after a barrier; see merge_sorted_keys.
template <int WARPS>
__device__ __forceinline__ void merge_new_keys(Worklist& list, uint32_t capacity, uint64_t* keys,
                                               uint32_t* ranks, uint32_t count,
                                               uint32_t* shared_count) {
  if (count > 0) {
    if (count <= kFewSorted) {
      sort_few_keys(keys, count);
    } else {
      sort_apart<WARPS>(keys, count);
    }
    merge_sorted_keys<WARPS>(list, capacity, keys, ranks, count, shared_count);
  }
}

// Most new keys of a step that merge_few takes: 0 with several parents, whose keys are rarely so few that
// the attempt saves more than it costs.
__device__ __forceinline__ uint32_t most_few(uint32_t capacity, uint32_t parents) {
  return capacity <= 64 && parents == 1 ? 8 : 0;
}

// As merge_new_keys, by one warp; up to `few` keys, which is from most_few, by merge_few.
__device__ __forceinline__ void merge_step_keys(Worklist& list, uint32_t capacity, uint64_t* keys,
                                                uint32_t* ranks, uint32_t count, uint32_t few) {
  if (count > 0 && count <= few &&
      (capacity <= 32 ? merge_few<1>(list, capacity, keys, count)
                      : merge_few<2>(list, capacity, keys, count))) {
    return;
  }
  merge_new_keys<1>(list, capacity, keys, ranks, count, nullptr);
}

// Index of the nearest unexpanded entry at or behind the cursor, or size. For one warp.
__device__ __forceinline__ uint32_t next_unexpanded(const Worklist& list) {
  for (uint32_t from = list.cursor; from < list.size; from += 32) {
    uint32_t i = from + lane_id();
    bool open = i < list.size && is_expanded(list.keys[i]) == false;
    uint32_t found = __ballot_sync(kAllLanes, open);
    if (found != 0) {
      return from + __ffs(found) - 1;
    }
  }
  return list.size;
}

}  // namespace vamana
