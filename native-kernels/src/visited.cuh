// The visited set in shared memory, see vamana/visited.h.
#pragma once

#include <cstdint>

#include "vamana/visited.h"
#include "warp.cuh"

namespace vamana {

// Reads the buckets of the nodes that `valid` has bits for.
template <int COUNT>
__device__ __forceinline__ void read_buckets(const uint32_t* slots, uint32_t count,
                                             const uint32_t (&ordinals)[COUNT], uint32_t valid,
                                             uint32_t (&buckets)[COUNT][kBucket]) {
#pragma unroll
  for (int i = 0; i < COUNT; i++) {
    if ((valid >> i & 1u) != 0) {
      uint4 bucket = *reinterpret_cast<const uint4*>(slots + visited_bucket(ordinals[i], count));
      buckets[i][0] = bucket.x;
      buckets[i][1] = bucket.y;
      buckets[i][2] = bucket.z;
      buckets[i][3] = bucket.w;
    }
  }
}

// Adds the nodes that `valid` has bits for; a bit of the result says that the node was not there.
// The buckets are read together, so that their latency is paid once. Lanes may add at once: of two
// that add one node both may find it new, and of two that take one slot one is forgotten.
template <int COUNT>
__device__ __forceinline__ uint32_t visited_add(uint32_t* slots, uint32_t count,
                                                const uint32_t (&ordinals)[COUNT],
                                                uint32_t valid) {
  uint32_t buckets[COUNT][kBucket];
  read_buckets(slots, count, ordinals, valid, buckets);
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

// As visited_add, while other warps add rows, which often have nodes in common: only the first that adds a node
// finds it new. A slot of the bucket is read and taken at once, so a node's slots are looked through from one of its own on,
// not from the first; sets that are filled this way are not filled by the other functions, too.
template <int COUNT>
__device__ __forceinline__ uint32_t visited_add_among_others(uint32_t* slots, uint32_t count,
                                                             const uint32_t (&ordinals)[COUNT],
                                                             uint32_t valid) {
  uint32_t fresh = 0;
#pragma unroll
  for (int i = 0; i < COUNT; i++) {
    if ((valid >> i & 1u) != 0) {
      uint32_t* bucket = slots + visited_bucket(ordinals[i], count);
      const uint32_t mark = visited_mark(ordinals[i]);
      uint32_t before = 0;
      uint32_t tried = 0;
#pragma unroll 1
      do {
        before = atomicCAS(bucket + visited_slot(ordinals[i], tried), 0u, mark);
        tried++;
      } while (before != 0 && before != mark && tried < kBucket);
      if (before != 0 && before != mark) {
        atomicExch(bucket + visited_slot(ordinals[i], 0), mark);
        before = 0;
      }
      fresh |= before == 0 ? 1u << i : 0;
    }
  }
  __syncwarp();
  return fresh;
}

// Adds nodes one after the other: first ordinals[0] of all lanes, by lane, then ordinals[1], and so on.
// So the result does not depend on which lane is first. Slower than visited_add, though lanes wait for
// each other only where nodes share a bucket; for one warp, while no other adds.
template <int COUNT>
__device__ __forceinline__ uint32_t visited_add_in_order(uint32_t* slots, uint32_t count,
                                                         const uint32_t (&ordinals)[COUNT],
                                                         uint32_t valid) {
  uint32_t fresh = 0;
#pragma unroll
  for (int i = 0; i < COUNT; i++) {
    bool waits = (valid >> i & 1u) != 0;
    uint32_t* bucket = slots + visited_bucket(ordinals[i], count);
    while (__any_sync(kAllLanes, waits)) {
      // a lane that has no node, or has added it, matches no other
      const uint32_t same = __match_any_sync(
          kAllLanes, waits ? visited_bucket(ordinals[i], count) : 0x80000000u | lane_id());
      if (waits && (same & lanes_below()) == 0) {
        const uint4 loaded = *reinterpret_cast<const uint4*>(bucket);
        const uint32_t found[kBucket] = {loaded.x, loaded.y, loaded.z, loaded.w};
        const uint32_t place = visited_place(found, ordinals[i]);
        if (place < kBucket) {
          bucket[place] = visited_mark(ordinals[i]);
          fresh |= 1u << i;
        }
        waits = false;
      }
      __syncwarp();
    }
  }
  return fresh;
}

// The same for a row, out of line: most launches have no limit, and should not carry its registers.
__device__ __noinline__ uint32_t visited_add_row_in_order(uint32_t* slots, uint32_t count, uint4 row,
                                                          uint32_t valid) {
  const uint32_t ordinals[4] = {row.x, row.y, row.z, row.w};
  return visited_add_in_order<4>(slots, count, ordinals, valid);
}

}  // namespace vamana
