// Drawing by k-means++ (Arthur and Vassilvitskii): each next seed is drawn from the candidates with
// probability proportional to the squared distance to the nearest so far. Threads own neighbouring
// candidates, and sums follow their order, so that what is drawn depends on nothing else.
#pragma once

#include "kmeans.cuh"
#include "warp.cuh"

namespace vamana {

constexpr uint32_t kDrawThreads = 1024;
constexpr uint32_t kLanes = 32;
constexpr uint32_t kDrawWarps = kDrawThreads / kLanes;
constexpr uint32_t kNone = 0xFFFFFFFFu;

static_assert(kDrawWarps == kLanes, "a warp scans the sums of all warps");

struct DrawShared {
  double weights[kDrawWarps];
  uint32_t lasts[kDrawWarps];
  uint32_t found[kDrawWarps];
  uint32_t chosen;
  uint64_t random;
};

struct CandidateRange {
  uint32_t from;
  uint32_t to;
};

// The candidates that the thread owns.
__device__ __forceinline__ CandidateRange range_of(uint32_t size) {
  const uint32_t each = (size + kDrawThreads - 1) / kDrawThreads;
  const uint32_t from = min(size, threadIdx.x * each);
  return {from, min(size, from + each)};
}

__device__ __forceinline__ double scan_warp(double value) {
  const uint32_t lane = threadIdx.x % kLanes;
#pragma unroll
  for (uint32_t i = 1; i < kLanes; i *= 2) {
    const double other = __shfl_up_sync(kAllLanes, value, i);
    value += lane >= i ? other : 0.0;
  }
  return value;
}

// Draws a candidate, or returns kNone if all coincide with a seed. The caller synchronizes the
// block before the next call.
__device__ __forceinline__ uint32_t draw(DrawShared& shared, CandidateRange own,
                                         const KMeansCandidate* candidates) {
  const uint32_t lane = threadIdx.x % kLanes;
  const uint32_t warp = threadIdx.x / kLanes;
  double weight = 0;
  uint32_t last = 0;
  for (uint32_t i = own.from; i < own.to; i++) {
    const float nearest = candidates[i].nearest;
    weight += nearest;
    last = nearest > 0 ? i + 1 : last;
  }
  const double sum = scan_warp(weight);
  last = warp_max(last);
  if (lane == kLanes - 1) {
    shared.weights[warp] = sum;
    shared.lasts[warp] = last;
  }
  if (threadIdx.x == 0) {
    shared.chosen = kNone;
  }
  __syncthreads();
  const double sums = scan_warp(shared.weights[lane]);
  const double total = __shfl_sync(kAllLanes, sums, kLanes - 1);
  const double warps_before = __shfl_sync(kAllLanes, sums, warp == 0 ? 0 : warp - 1);
  if (total == 0) {
    return kNone;
  }
  uint64_t random = shared.random;
  const double before = (warp == 0 ? 0.0 : warps_before) + sum - weight;
  double target = next_double(random) * total - before;
  // the first range that passes the target has it; rounding may let two or none do so
  if (target < weight) {
    for (uint32_t i = own.from; i < own.to; i++) {
      const float nearest = candidates[i].nearest;
      target -= nearest;
      if (nearest > 0 && target < 0) {
        atomicMin(&shared.chosen, i);
        break;
      }
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    shared.random = random;
  }
  return shared.chosen != kNone ? shared.chosen
                                : warp_max(shared.lasts[lane]) - 1;
}

// Any of the candidates.
__device__ __forceinline__ uint32_t draw_first(DrawShared& shared, uint32_t size) {
  uint64_t random = shared.random;
  const uint32_t chosen = static_cast<uint32_t>(next_double(random) * size);
  __syncthreads();
  if (threadIdx.x == 0) {
    shared.random = random;
  }
  return chosen;
}

// Takes the first rows, or the first rows that have an error. Returns their number, at most pool.
__device__ __forceinline__ uint32_t collect(const KMeans& p, DrawShared& shared, uint32_t s,
                                            KMeansCandidate* candidates) {
  const float* errors = p.first != 0 ? nullptr : errors_of(p, s);
  const uint32_t lane = threadIdx.x % kLanes;
  const uint32_t warp = threadIdx.x / kLanes;
  uint32_t size = 0;
  for (uint64_t first = 0; first < p.count && size < p.pool; first += kDrawThreads) {
    const uint64_t row = first + threadIdx.x;
    const float error = row >= p.count ? 0.0f : errors == nullptr ? INFINITY : errors[row];
    const uint32_t found = __ballot_sync(kAllLanes, error > 0);
    if (lane == 0) {
      shared.found[warp] = __popc(found);
    }
    __syncthreads();
    const uint32_t others = shared.found[lane];
    const uint32_t place = size + warp_sum(lane < warp ? others : 0) +
                           __popc(found & ((1u << lane) - 1));
    size += warp_sum(others);
    if (error > 0 && place < p.pool) {
      candidates[place] = {static_cast<uint32_t>(row), error};
    }
    __syncthreads();
  }
  return min(size, p.pool);
}

// The first cluster without rows from this one on, or k.
__device__ __forceinline__ uint32_t next_empty(const KMeans& p, uint32_t s, uint32_t from) {
  const uint32_t* starts = starts_of(p, s);
  const uint32_t lane = threadIdx.x % kLanes;
  for (uint32_t first = from; first < p.k; first += kLanes) {
    const uint32_t c = min(first + lane, p.k - 1);
    const uint32_t empty = __ballot_sync(kAllLanes, starts[c] == starts[c + 1]);
    if (empty != 0) {
      return min(first + __ffs(empty) - 1, p.k - 1);
    }
  }
  return p.k;
}

}  // namespace vamana
