// Merging by counting: a key's place is the number of keys before it. That is more comparisons than
// sorting and searching make, but none waits for another, and all warps make them.
#pragma once

#include <cstdint>

#include "cta.cuh"
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
  constexpr uint32_t kParts = 4;  // lanes that count for one key
  constexpr uint32_t kPass = kMaxCounted<WARPS> / kParts;
  const uint32_t part = threadIdx.x % kParts;
  const uint32_t size = list.size;
  const uint32_t total = size + count;
  uint64_t own[kParts];
  uint32_t place[kParts];
  uint32_t left = count;
  while (true) {
    uint32_t repeated = 0;
#pragma unroll
    for (uint32_t r = 0; r < kParts; r++) {
      const uint32_t e = r * kPass + threadIdx.x / kParts;
      own[r] = kNoKey;
      place[r] = 0;
      if (r * kPass >= total) {
        continue;
      }
      bool again = false;
      uint32_t before = 0;
      if (e < size) {
        const uint64_t key = list.keys[e];
        own[r] = key;
        before = part == 0 ? e : 0;
#pragma unroll 4
        for (uint32_t j = part; j < count; j += kParts) {
          before += keys[j] < key ? 1 : 0;
        }
      } else if (e < total) {
        const uint64_t key = keys[e - size];
        own[r] = key;
#pragma unroll 4
        for (uint32_t j = part; j < count; j += kParts) {
          const uint64_t other = keys[j];
          before += other < key ? 1 : 0;
          again |= other == key && j < e - size;
        }
#pragma unroll 4
        for (uint32_t j = part; j < size; j += kParts) {
          const uint64_t other = unmarked(list.keys[j]);
          before += other < key ? 1 : 0;
          again |= other == key;
        }
        again &= key != kNoKey;
      }
#pragma unroll
      for (uint32_t stride = 1; stride < kParts; stride <<= 1) {
        before += __shfl_xor_sync(kAllLanes, before, stride);
      }
      place[r] = before;
      repeated |= (again ? 1u : 0u) << r;
    }
    if (__syncthreads_or(repeated) == 0) {
      break;
    }
    // seldom: without them, everything is counted again
#pragma unroll
    for (uint32_t stride = 1; stride < kParts; stride <<= 1) {
      repeated |= __shfl_xor_sync(kAllLanes, repeated, stride);
    }
#pragma unroll
    for (uint32_t r = 0; r < kParts; r++) {
      const bool drop = part == 0 && (repeated >> r & 1u) != 0;
      if (drop) {
        keys[r * kPass + threadIdx.x / kParts - size] = kNoKey;
      }
      left -= __syncthreads_count(drop);
    }
  }
#pragma unroll
  for (uint32_t r = 0; r < kParts; r++) {
    if (part == 0 && own[r] != kNoKey && place[r] < capacity) {
      list.keys[place[r]] = own[r];
    }
  }
  list.size = size + left < capacity ? size + left : capacity;
  list.cursor = 0;
  __syncthreads();
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
    merge_new_keys<WARPS>(list, capacity, keys, ranks, count, shared_count);
    if (count == 0) {
      __syncthreads();
    }
  }
}

}  // namespace vamana
