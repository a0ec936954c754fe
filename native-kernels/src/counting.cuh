// Merging by counting, see vamana/counting.h. That is more comparisons than sorting and searching
// make, but none waits for another, and all warps make them.
#pragma once

#include <cstdint>

#include "cta.cuh"
#include "vamana/counting.h"
#include "vamana/order.h"
#include "worklist.cuh"

namespace vamana {

// How many keys are merged by counting or in runs at most: those of the worklist and new ones together.
template <int WARPS>
constexpr uint32_t kMaxTogether = WARPS * 32;

// Sums of the lanes that share a key.
template <uint32_t PARTS>
__device__ __forceinline__ uint32_t sum_of_parts(uint32_t value) {
#pragma unroll
  for (uint32_t lanes = 1; lanes < PARTS; lanes <<= 1) {
    value += __shfl_xor_sync(kAllLanes, value, lanes);
  }
  return value;
}

// Merges new keys, in any order, into the worklist, of which the nearest `capacity` stay. Keys that
// the list has and repeated ones are dropped. PARTS lanes count for one key, so that PARTS times as many threads as
// keys are needed. All threads of a block of several warps call it, after a barrier; it ends with one. Returns the
// list's new size, and changes the new keys.
template <uint32_t PARTS>
__device__ __forceinline__ uint32_t merge_by_counting(uint64_t* list, uint32_t size,
                                                      uint32_t capacity, uint64_t* keys,
                                                      uint32_t count) {
  const uint32_t part = threadIdx.x % PARTS;
  const uint32_t e = threadIdx.x / PARTS;
  const bool is_new = e >= size && e < size + count;
  const uint64_t own = e < size ? list[e] : is_new ? keys[e - size] : kNoKey;
  // of an entry its place, of a new key the entries before it, and whether one of them is the same
  uint32_t listed = part == 0 ? e : 0;
  if (is_new) {
    listed = count_keys(list, size, own, part, PARTS);
  }
  bool dropped = is_new == false && e >= size;
  uint32_t left = count;
  uint32_t found;
#pragma unroll 1
  while (true) {
    found = listed;
    if (dropped == false) {
      found += count_keys(keys, count, own, part, PARTS);
    }
    found = sum_of_parts<PARTS>(found);
    // a new key is one of its node itself
    const bool suspect = is_new && dropped == false && found_same(found) > 1;
    if (__syncthreads_or(suspect) == 0) {
      break;
    }
    // seldom: without repeated keys, everything is counted again
    const bool drop =
        found_same(sum_of_parts<PARTS>(listed)) > 0 ? suspect : suspect && is_again(keys, e - size);
    left -= __syncthreads_count(drop && part == 0);
    if (drop) {
      dropped = true;
      keys[e - size] = kNoKey;
    }
    __syncthreads();
  }
  if (part == 0 && dropped == false && found_before(found) < capacity) {
    list[found_before(found)] = own;
  }
  __syncthreads();
  return size + left < capacity ? size + left : capacity;
}

// As merge_by_counting, for many new keys: each warp sorts 32 of them, then each key searches for its place in the
// list and in the others' runs. Out of line: walks begin with such steps, most others are short.
template <int WARPS>
__device__ __noinline__ uint32_t merge_by_runs(uint64_t* list, uint32_t size, uint32_t capacity,
                                               uint64_t* keys, uint32_t count) {
  const uint32_t runs = (count + kRun - 1) / kRun;
  const uint32_t e = threadIdx.x;
  uint32_t left = count;
  uint64_t own;
  uint32_t place;
#pragma unroll 1
  while (true) {
    if (warp_id() < runs) {
      sort_by_counting<1>(keys + warp_id() * kRun, run_length(count, warp_id()));
    }
    __syncthreads();
    own = kNoKey;
    place = 0;
    bool repeated = false;
    if (e < size) {
      own = list[e];
      place = e + place_in_runs(keys, count, own, runs).before;
    } else if (e < size + count) {
      own = keys[e - size];
      const uint32_t rank = rank_in_list(list, size, own);
      const Counted counted = place_in_runs(keys, count, own, (e - size) / kRun);
      place = rank + counted.before + (e - size) % kRun;
      repeated = is_dropped(own) == false &&
                 (counted.repeated || (rank < size && unmarked(list[rank]) == own) ||
                  ((e - size) % kRun > 0 && keys[e - size - 1] == own));
    }
    if (__syncthreads_or(repeated) == 0) {
      break;
    }
    // seldom: without them, everything is sorted again
    if (repeated) {
      keys[e - size] = dropped_key(e - size);
    }
    left -= __syncthreads_count(repeated);
  }
  if (e < size + count && is_dropped(own) == false && place < capacity) {
    list[place] = own;
  }
  __syncthreads();
  return size + left < capacity ? size + left : capacity;
}

// merge_new_keys out of line: long lists need it, and its code would be in the way of short ones'.
template <int WARPS>
__device__ __noinline__ uint32_t merge_long(uint64_t* list_keys, uint32_t size, uint32_t capacity,
                                            uint64_t* keys, uint32_t* ranks, uint32_t count,
                                            uint32_t* shared_count) {
  Worklist list = {list_keys, size, 0};
  merge_new_keys<WARPS>(list, capacity, keys, ranks, count, shared_count);
  return list.size;
}

// Merges new keys in whichever way is fast; as merge_by_counting. ranks have room for count words,
// shared_count is a word of shared memory for its use.
template <int WARPS>
__device__ __forceinline__ void merge_together(Worklist& list, uint32_t capacity, uint64_t* keys,
                                               uint32_t* ranks, uint32_t count,
                                               uint32_t* shared_count) {
  constexpr uint32_t kMost = kMaxTogether<WARPS>;
  // blocks of few warps merge together when they re-rank, which is seldom worth their registers
  constexpr bool kMany = WARPS >= 8;
  const uint32_t total = list.size + count;
  list.cursor = 0;
  if (count == 0) {
    __syncthreads();
  } else if (kMany && total * 8 <= kMost) {
    list.size = merge_by_counting<8>(list.keys, list.size, capacity, keys, count);
  } else if (kMany && total * 4 <= kMost) {
    list.size = merge_by_counting<4>(list.keys, list.size, capacity, keys, count);
  } else if (kMany && total <= kMost) {
    list.size = merge_by_runs<WARPS>(list.keys, list.size, capacity, keys, count);
  } else if (total <= kMost) {
    list.size = merge_by_counting<1>(list.keys, list.size, capacity, keys, count);
  } else {
    list.size = merge_long<WARPS>(list.keys, list.size, capacity, keys, ranks, count, shared_count);
  }
}

}  // namespace vamana
