// Seeds. For a new clustering of long vectors the whole device works on each step: candidates are
// laid out component by component, kmeans_draw picks one (a block a subspace), and kmeans_near
// brings the distances of all up to date (a thread each). Short sub-vectors, and clusters that have
// become empty, which are few, are left to kmeans_fill, a block a subspace.
#include "kmeans_draw.cuh"

namespace {

using namespace vamana;

constexpr uint32_t kThreads = 256;
constexpr uint32_t kNearThreads = 64;

__device__ __forceinline__ KMeansCandidate* candidates_of(const KMeans& p, uint32_t s) {
  return at<KMeansCandidate>(p.candidates) + static_cast<uint64_t>(s) * p.pool;
}

__device__ __forceinline__ float* columns_of(const KMeans& p, uint32_t s) {
  return at<float>(p.columns) + static_cast<uint64_t>(s) * p.max_length * p.pool;
}

__device__ __forceinline__ uint32_t candidate_count(const KMeans& p) {
  return static_cast<uint32_t>(min(p.count, static_cast<uint64_t>(p.pool)));
}

// The first rows become candidates.
__device__ __forceinline__ void gather(const KMeans& p) {
  const uint32_t size = candidate_count(p);
  const uint64_t total = static_cast<uint64_t>(p.dims) * size;
  const uint64_t step = static_cast<uint64_t>(gridDim.x) * kThreads;
  for (uint64_t i = static_cast<uint64_t>(blockIdx.x) * kThreads + threadIdx.x; i < total; i += step) {
    const uint32_t dimension = static_cast<uint32_t>(i / size);
    const uint32_t row = static_cast<uint32_t>(i % size);
    const uint32_t s = subspace_of(p, dimension);
    const uint32_t d = dimension - subspace_offset(p, s);
    columns_of(p, s)[static_cast<uint64_t>(d) * p.pool + row] =
        row_of(p, row)[dimension];
    if (d == 0) {
      candidates_of(p, s)[row] = {row, INFINITY};
    }
  }
}

// Makes a candidate the centroid c and updates the distances of all.
__device__ __forceinline__ void take(const KMeans& p, const CandidateRange& own, uint32_t s,
                                     KMeansCandidate* candidates, uint32_t chosen, uint32_t c) {
  const uint32_t length = subspace_length(p, s);
  const uint32_t offset = subspace_offset(p, s);
  const float* seed = row_of(p, candidates[chosen].row) + offset;
  float* centroid = centroids_of(p, s) + static_cast<uint64_t>(c) * length;
  for (uint32_t d = threadIdx.x; d < length; d += kDrawThreads) {
    centroid[d] = seed[d];
  }
  for (uint32_t i = own.from; i < own.to; i++) {
    const float* row = row_of(p, candidates[i].row) + offset;
    float sum = 0;
#pragma unroll 8
    for (uint32_t d = 0; d < length; d++) {
      sum = add_square(sum, seed[d], row[d]);
    }
    candidates[i].nearest = i == chosen ? 0.0f : fminf(candidates[i].nearest, sum);
  }
  __syncthreads();
}

// The centroids from this one on are the first again.
__device__ __forceinline__ void repeat_first(const KMeans& p, uint32_t s, uint32_t from) {
  const uint32_t length = subspace_length(p, s);
  float* centroids = centroids_of(p, s);
  for (uint32_t i = from * length + threadIdx.x; i < p.k * length; i += kDrawThreads) {
    centroids[i] = centroids[i % length];
  }
}

// Draws all centroids, or new centroids for empty clusters.
__device__ __forceinline__ void fill(const KMeans& p) {
  __shared__ DrawShared shared;
  const uint32_t s = blockIdx.x;
  if (done(p, s)) {
    return;
  }
  if (threadIdx.x == 0) {
    shared.random = state_of(p, s).random;
  }
  KMeansCandidate* candidates = candidates_of(p, s);
  const bool all = p.first != 0;
  uint32_t c = all ? 0 : next_empty(p, s, 0);
  const uint32_t size = c < p.k ? collect(p, shared, s, candidates) : 0;
  const CandidateRange own = range_of(size);
  while (c < p.k && size > 0) {
    const uint32_t chosen =
        all && c == 0 ? draw_first(shared, size) : draw(shared, own, candidates);
    if (chosen == kNone) {
      if (all) {
        repeat_first(p, s, c);
      }
      break;
    }
    take(p, own, s, candidates, chosen, c);
    c = all ? c + 1 : next_empty(p, s, c + 1);
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    state_of(p, s).random = shared.random;
  }
}

}  // namespace

extern "C" __global__ void __launch_bounds__(kThreads) kmeans_gather(const __grid_constant__ KMeans p) {
  gather(p);
}

// Draws centroid p.step; where no candidate is left it is the first again.
extern "C" __global__ void __launch_bounds__(kDrawThreads, 1) kmeans_draw(const __grid_constant__ KMeans p) {
  __shared__ DrawShared shared;
  const uint32_t s = blockIdx.x;
  if (threadIdx.x == 0) {
    shared.random = state_of(p, s).random;
  }
  __syncthreads();
  const uint32_t size = candidate_count(p);
  KMeansCandidate* candidates = candidates_of(p, s);
  const uint32_t chosen = p.step == 0 ? draw_first(shared, size)
                                      : draw(shared, range_of(size), candidates);
  const uint32_t length = subspace_length(p, s);
  float* centroids = centroids_of(p, s);
  const float* column = columns_of(p, s) + chosen;
  for (uint32_t d = threadIdx.x; d < length; d += kDrawThreads) {
    centroids[static_cast<uint64_t>(p.step) * length + d] =
        chosen == kNone ? centroids[d] : column[static_cast<uint64_t>(d) * p.pool];
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    state_of(p, s).random = shared.random;
    if (chosen != kNone) {
      // a row is never drawn twice, also where rounding left something
      candidates[chosen].nearest = 0;
    }
  }
}

// Distances of the candidates to centroid p.step; a thread each.
extern "C" __global__ void __launch_bounds__(kNearThreads) kmeans_near(const __grid_constant__ KMeans p) {
  const uint32_t s = blockIdx.x % p.subspaces;
  const uint32_t i = blockIdx.x / p.subspaces * kNearThreads + threadIdx.x;
  if (i >= candidate_count(p)) {
    return;
  }
  const uint32_t length = subspace_length(p, s);
  const float* centroid = centroids_of(p, s) + static_cast<uint64_t>(p.step) * length;
  const float* column = columns_of(p, s) + i;
  float sum = 0;
#pragma unroll 16
  for (uint32_t d = 0; d < length; d++) {
    sum = add_square(sum, __ldg(centroid + d), __ldg(column + static_cast<uint64_t>(d) * p.pool));
  }
  float& nearest = candidates_of(p, s)[i].nearest;
  nearest = fminf(nearest, sum);
}

extern "C" __global__ void __launch_bounds__(kDrawThreads, 1) kmeans_fill(const __grid_constant__ KMeans p) {
  fill(p);
}
