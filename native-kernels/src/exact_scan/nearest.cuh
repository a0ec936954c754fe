// The best k of the keys that a block comes by, in shared memory: whoever is better than the k-th
// best of those sorted so far is appended, and the buffer is sorted when it may run over.
#pragma once

#include <cstdint>

#include "block_bitonic.cuh"
#include "cta.cuh"
#include "sort.cuh"
#include "vamana/exact_scan.h"

namespace vamana {

constexpr uint32_t kNearestSlots = 512;

struct Nearest {
  uint64_t keys[kNearestSlots];
  uint64_t limit;   // keys from here on are of no interest
  uint32_t count;
  uint32_t reserved;
};

static_assert(sizeof(Nearest) == kExactNearestBytes, "Nearest");

__device__ __forceinline__ void clear(Nearest& nearest) {
  if (threadIdx.x == 0) {
    nearest.limit = kNoKey;
    nearest.count = 0;
  }
}

__device__ __forceinline__ void offer(Nearest& nearest, uint64_t key) {
  if (key < nearest.limit) {
    nearest.keys[atomicAdd(&nearest.count, 1u)] = key;
  }
}

// Sorts by the whole block and keeps k; a barrier before and after.
__device__ inline void settle(Nearest& nearest, uint32_t k) {
  const uint32_t count = nearest.count;
  const uint32_t slots = pad_keys(nearest.keys, count);
  sort_slots(nearest.keys, slots);
  if (threadIdx.x == 0) {
    nearest.count = min(count, k);
    if (count >= k) {
      nearest.limit = nearest.keys[k - 1];
    }
  }
  __syncthreads();
}

// Most hits for which a warp looks at the best key of each lane first.
constexpr uint32_t kFirstOfLanes = 32;

// Keeps the best `k`, of at most kFirstOfLanes, in order: the k-th of the best keys of all lanes says up to where there
// are enough, and few are better. For a warp.
__device__ __forceinline__ void settle_few(Nearest& nearest, uint32_t k) {
  constexpr uint32_t kOwn = kNearestSlots / 32;
  const uint32_t count = nearest.count;
  uint64_t own[kOwn];
  uint64_t best = kNoKey;
#pragma unroll
  for (uint32_t i = 0; i < kOwn; i++) {
    own[i] = i * 32 + lane_id() < count ? nearest.keys[i * 32 + lane_id()] : kNoKey;
    best = own[i] < best ? own[i] : best;
  }
  uint32_t before = 0;
#pragma unroll 8
  for (uint32_t lane = 0; lane < 32; lane++) {
    const uint64_t other = __shfl_sync(kAllLanes, best, lane);
    before += other < best || (other == best && lane < lane_id()) ? 1u : 0u;
  }
  const uint32_t lane_of_last = __ffs(__ballot_sync(kAllLanes, before == k - 1)) - 1;
  const uint64_t last = __shfl_sync(kAllLanes, best, lane_of_last);
  uint32_t kept = 0;
  __syncwarp();
#pragma unroll
  for (uint32_t i = 0; i < kOwn; i++) {
    const bool keep = own[i] <= last && own[i] != kNoKey;
    const uint32_t mask = __ballot_sync(kAllLanes, keep);
    if (keep) {
      nearest.keys[kept + __popc(mask & lanes_below())] = own[i];
    }
    kept += __popc(mask);
  }
  __syncwarp();
  if (kept <= kFewSorted) {
    sort_by_counting<kFewSorted / 32>(nearest.keys, kept);
  } else {
    sort_in_shared<1>(nearest.keys, kept);
  }
}

// Settles many queries, each by a warp. Barriers before and after.
template <int QUERIES>
__device__ __forceinline__ void settle_all(Nearest* nearest, uint32_t k) {
  for (uint32_t q = warp_id(); q < QUERIES; q += blockDim.x / 32) {
    const uint32_t count = nearest[q].count;
    if (k <= kFirstOfLanes) {
      settle_few(nearest[q], k);
    } else if (count > 1) {
      sort_in_shared<1>(nearest[q].keys, count);
    }
    __syncwarp();
    if (lane_id() == 0) {
      nearest[q].count = min(count, k);
      if (count >= k) {
        nearest[q].limit = nearest[q].keys[k - 1];
      }
    }
  }
  __syncthreads();
}

}  // namespace vamana
