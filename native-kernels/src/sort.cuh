// Sorting of new keys (BANG, section 4.7): by one warp up to 128 keys, in shared memory by the whole
// block beyond.
#pragma once

#include <cstdint>

#include "cta.cuh"
#include "vamana/order.h"

namespace vamana {

constexpr uint32_t kMaxWarpSort = 128;

// Whether element e of Batcher's bitonic network keeps the smaller of the pair (e, e ^ stride) while runs of run elements
// are made; run and stride are powers of two, stride < run.
__device__ __forceinline__ bool keeps_smaller(uint32_t e, uint32_t run, uint32_t stride) {
  return ((e & stride) == 0) == ((e & run) == 0);
}

// The form whose pairs all ascend, so that elements beyond the end count as the largest without
// being there. Pair p of a step: the first step of a run mirrors, the others are strided.
__device__ __forceinline__ void ascending_pair(uint32_t p, uint32_t run, uint32_t stride,
                                               uint32_t* low, uint32_t* high) {
  uint32_t block = (p & ~(stride - 1)) << 1;
  uint32_t within = p & (stride - 1);
  *low = block | within;
  *high = 2 * stride == run ? block + run - 1 - within : *low + stride;
}

// Each key's place is the number of smaller keys. More comparisons than a network makes, but none
// waits for another, so that a few keys are sorted in a fraction of the time.
template <int PER_LANE>
__device__ __forceinline__ void sort_by_counting(uint64_t* keys, uint32_t count) {
  uint64_t own[PER_LANE];
  uint32_t place[PER_LANE];
#pragma unroll
  for (int r = 0; r < PER_LANE; r++) {
    uint32_t e = r * 32 + lane_id();
    own[r] = e < count ? keys[e] : kNoKey;
    place[r] = 0;
  }
#pragma unroll 4
  for (uint32_t j = 0; j < count; j++) {
    uint64_t other = keys[j];
#pragma unroll
    for (int r = 0; r < PER_LANE; r++) {
      // new keys bear no mark, so that one more is still below the next key: of equal ones the first
      // goes first
      place[r] += other < own[r] + (j < r * 32 + lane_id() ? 1 : 0) ? 1 : 0;
    }
  }
  __syncwarp();
#pragma unroll
  for (int r = 0; r < PER_LANE; r++) {
    if (r * 32 + lane_id() < count) {
      keys[place[r]] = own[r];
    }
  }
}

// Element e of the sequence is register e / 32 of lane e % 32.
template <int PER_LANE>
__device__ __forceinline__ void sort_in_registers(uint64_t (&keys)[PER_LANE]) {
#pragma unroll
  for (uint32_t run = 2; run <= 32u * PER_LANE; run <<= 1) {
#pragma unroll
    for (uint32_t stride = run >> 1; stride > 0; stride >>= 1) {
      if (stride >= 32) {
        const uint32_t other = stride / 32;
#pragma unroll
        for (uint32_t r = 0; r < PER_LANE; r++) {
          if ((r & other) == 0) {
            bool smaller = keeps_smaller(r * 32 + lane_id(), run, stride);
            uint64_t a = keys[r];
            uint64_t b = keys[r | other];
            bool swap = smaller ? a > b : a < b;
            keys[r] = swap ? b : a;
            keys[r | other] = swap ? a : b;
          }
        }
      } else {
#pragma unroll
        for (uint32_t r = 0; r < PER_LANE; r++) {
          uint64_t other = __shfl_xor_sync(kAllLanes, keys[r], stride);
          bool smaller = keeps_smaller(r * 32 + lane_id(), run, stride);
          keys[r] = (other < keys[r]) == smaller ? other : keys[r];
        }
      }
    }
  }
}

template <int PER_LANE>
__device__ __forceinline__ void sort_by_network(uint64_t* keys, uint32_t count) {
  uint64_t own[PER_LANE];
#pragma unroll
  for (int r = 0; r < PER_LANE; r++) {
    uint32_t e = r * 32 + lane_id();
    own[r] = e < count ? keys[e] : kNoKey;
  }
  sort_in_registers<PER_LANE>(own);
#pragma unroll
  for (int r = 0; r < PER_LANE; r++) {
    uint32_t e = r * 32 + lane_id();
    if (e < count) {
      keys[e] = own[r];
    }
  }
}

// By the block, or by any of its warps if WARPS is 1; at least two keys.
template <int WARPS>
__device__ void sort_in_shared(uint64_t* keys, uint32_t count) {
  uint32_t padded = 1u << (32 - __clz(count - 1));
  for (uint32_t run = 2; run <= padded; run <<= 1) {
    for (uint32_t stride = run >> 1; stride > 0; stride >>= 1) {
      for (uint32_t p = WARPS == 1 ? lane_id() : threadIdx.x; p < padded / 2; p += WARPS * 32) {
        uint32_t low;
        uint32_t high;
        ascending_pair(p, run, stride, &low, &high);
        if (high < count) {
          uint64_t a = keys[low];
          uint64_t b = keys[high];
          if (b < a) {
            keys[low] = b;
            keys[high] = a;
          }
        }
      }
      cta_sync<WARPS>();
    }
  }
}

// Sorts up to kFewSorted keys, by the first warp.
constexpr uint32_t kFewSorted = 64;

__device__ __forceinline__ void sort_few_keys(uint64_t* keys, uint32_t count) {
  if (warp_id() == 0) {
    if (count <= 32) {
      sort_by_counting<1>(keys, count);
    } else {
      sort_by_counting<2>(keys, count);
    }
    __syncwarp();
  }
}

template <int WARPS>
__device__ __forceinline__ void sort_many_keys(uint64_t* keys, uint32_t count) {
  if (count > kMaxWarpSort) {
    sort_in_shared<WARPS>(keys, count);
  } else if (warp_id() == 0) {
    sort_by_network<4>(keys, count);
    __syncwarp();
  }
}

// Sorts keys in shared memory; all threads of the block call it, after a barrier. Up to
// kMaxWarpSort keys the first warp may read the result at once, others after a barrier.
template <int WARPS>
__device__ __forceinline__ void sort_keys(uint64_t* keys, uint32_t count) {
  if (count <= kFewSorted) {
    sort_few_keys(keys, count);
  } else {
    sort_many_keys<WARPS>(keys, count);
  }
}

// More than kFewSorted keys out of line, where their code would be in the way of fewer keys.
template <int WARPS>
__device__ __noinline__ void sort_apart(uint64_t* keys, uint32_t count) {
  sort_many_keys<WARPS>(keys, count);
}

}  // namespace vamana
