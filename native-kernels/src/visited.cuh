// The visited set in shared memory, see vamana/visited.h.
#pragma once

#include <cstdint>

#include "vamana/visited.h"
#include "warp.cuh"

namespace vamana {

__device__ __forceinline__ uint4 load_bucket(const uint32_t* slots, uint32_t count,
                                             uint32_t ordinal) {
  return *reinterpret_cast<const uint4*>(slots + visited_bucket(ordinal, count));
}

// Adds the nodes that `valid` has bits for; a bit of the result says that the node was not there.
// The buckets are read together, so that their latency is paid once. Lanes may add at once: of two
// that add one node both may find it new, and of two that take one slot one is forgotten.
template <int COUNT>
__device__ __forceinline__ uint32_t visited_add(uint32_t* slots, uint32_t count,
                                                const uint32_t (&ordinals)[COUNT],
                                                uint32_t valid) {
  uint32_t buckets[COUNT][kBucket];
#pragma unroll
  for (int i = 0; i < COUNT; i++) {
    if ((valid >> i & 1u) != 0) {
      uint4 bucket = load_bucket(slots, count, ordinals[i]);
      buckets[i][0] = bucket.x;
      buckets[i][1] = bucket.y;
      buckets[i][2] = bucket.z;
      buckets[i][3] = bucket.w;
    }
  }
  __syncwarp();
  uint32_t fresh = 0;
#pragma unroll
  for (int i = 0; i < COUNT; i++) {
    if ((valid >> i & 1u) != 0) {
      uint32_t place = visited_place(buckets[i], ordinals[i]);
      if (place < kBucket) {
        // An exchange, whose result nobody needs: a plain store would be a race.
        atomicExch(slots + visited_bucket(ordinals[i], count) + place, visited_mark(ordinals[i]));
        fresh |= 1u << i;
      }
    }
  }
  __syncwarp();
  return fresh;
}

// Replaces what a slot held before this turn, or a greater mark of this turn.
__device__ __forceinline__ void put_smallest(uint32_t* slot, uint32_t before, uint32_t mark) {
  uint32_t expected = before;
  while (true) {
    const uint32_t found = atomicCAS(slot, expected, mark);
    if (found == expected || found < mark) {
      return;
    }
    expected = found;
  }
}

// Adds nodes in turns of one node a lane, as vamana/visited.h describes, so that the result does
// not depend on which lane is first. Slower than visited_add; for one warp, while no other adds.
template <int COUNT>
__device__ __forceinline__ uint32_t visited_add_in_turns(uint32_t* slots, uint32_t count,
                                                         const uint32_t (&ordinals)[COUNT],
                                                         uint32_t valid) {
  uint32_t fresh = 0;
#pragma unroll
  for (int i = 0; i < COUNT; i++) {
    const bool own = (valid >> i & 1u) != 0;
    uint4 loaded = {0, 0, 0, 0};
    if (own) {
      loaded = load_bucket(slots, count, ordinals[i]);
    }
    // no lane adds before all have looked
    __syncwarp();
    // a lane without a node matches no other
    const uint32_t same =
        __match_any_sync(kAllLanes, own ? ordinals[i] : 0x80000000u | lane_id());
    if (own && (same & lanes_below()) == 0) {
      const uint32_t bucket[kBucket] = {loaded.x, loaded.y, loaded.z, loaded.w};
      const uint32_t place = visited_place(bucket, ordinals[i]);
      if (place < kBucket) {
        // not bucket[place], which would put the array into local memory
        const uint32_t low = (place & 1) == 0 ? loaded.x : loaded.y;
        const uint32_t high = (place & 1) == 0 ? loaded.z : loaded.w;
        put_smallest(slots + visited_bucket(ordinals[i], count) + place,
                     (place & 2) == 0 ? low : high, visited_mark(ordinals[i]));
        fresh |= 1u << i;
      }
    }
    __syncwarp();
  }
  return fresh;
}

}  // namespace vamana
