// Merging by counting, see vamana/counting.h. That is more comparisons than sorting and searching
// make, but none waits for another, and all warps make them.
#pragma once

#include <cstdint>

#include "cta.cuh"
#include "vamana/counting.h"
#include "vamana/order.h"
#include "worklist.cuh"

namespace vamana {

// How many keys merge_by_counting takes at most: those of the worklist and new ones together.
template <int WARPS>
constexpr uint32_t kMaxCounted = WARPS * 32;

// Merges new keys, in any order, into the worklist, of which the nearest `capacity` stay. Keys that
// the list has and repeated ones are dropped. All threads of a block of several warps call it, after
// a barrier; it ends with one. Changes the new keys.
template <int WARPS>
__device__ __forceinline__ void merge_by_counting(Worklist& list, uint32_t capacity, uint64_t* keys,
                                                  uint32_t count) {
  const uint32_t size = list.size;
  const uint32_t total = size + count;
  // lanes that count for one key, as many as there are threads for
  const uint32_t shift =
      total * 4 <= kMaxCounted<WARPS> ? 2 : total * 2 <= kMaxCounted<WARPS> ? 1 : 0;
  const uint32_t parts = 1u << shift;
  const uint32_t part = threadIdx.x & (parts - 1);
  const uint32_t e = threadIdx.x >> shift;
  uint32_t left = count;
  uint64_t own;
  uint32_t place;
#pragma unroll 1
  while (true) {
    own = kNoKey;
    place = 0;
    bool repeated = false;
    if (e < size) {
      own = list.keys[e];
      place = count_before_entry(keys, count, own, part, parts) + (part == 0 ? e : 0);
    } else if (e < total) {
      own = keys[e - size];
      const Counted counted = count_before_new(list.keys, size, keys, count, e - size, part, parts);
      place = counted.before;
      repeated = counted.repeated;
    }
    uint32_t other = __shfl_xor_sync(kAllLanes, place, 1);
    place += shift > 0 ? other : 0;
    other = __shfl_xor_sync(kAllLanes, place, 2);
    place += shift > 1 ? other : 0;
    if (__syncthreads_or(repeated) == 0) {
      break;
    }
    // seldom: without them, everything is counted again
    const uint32_t mine = __ballot_sync(kAllLanes, repeated) >> (lane_id() & ~(parts - 1));
    const bool drop = part == 0 && (mine & ((1u << parts) - 1)) != 0;
    if (drop) {
      keys[e - size] = kNoKey;
    }
    left -= __syncthreads_count(drop);
  }
  if (part == 0 && own != kNoKey && place < capacity) {
    list.keys[place] = own;
  }
  list.size = size + left < capacity ? size + left : capacity;
  list.cursor = 0;
  __syncthreads();
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
  if (list.size + count <= kMaxCounted<WARPS>) {
    merge_by_counting<WARPS>(list, capacity, keys, count);
  } else {
    list.size = merge_long<WARPS>(list.keys, list.size, capacity, keys, ranks, count, shared_count);
    list.cursor = 0;
    if (count == 0) {
      __syncthreads();
    }
  }
}

}  // namespace vamana
