// Seeds of short sub-vectors, for a new training and for clusters that have become empty: a block a
// subspace, which keeps all candidates in registers, or reads them again where they are too long.
#include "kmeans_draw.cuh"

namespace {

using namespace vamana;

constexpr uint32_t kOwned = kKMeansShortPool / kDrawThreads;

static_assert(kOwned == 2, "InRegisters chooses between two");

// Weights of the thread's candidates.
struct InRegisters {
  uint32_t from;
  float first;
  float second;

  __device__ __forceinline__ float operator()(uint32_t i) const {
    return i == from ? first : second;
  }
};

template <uint32_t kLength>
struct Candidates {
  static constexpr bool kKept = kLength <= 8;

  float components[kOwned][kKept ? kLength : 1];
  const float* rows[kOwned];
  uint32_t length;
  float nearest[kOwned];
  CandidateRange own;

  // Components beyond the subspace's are zeros, which add nothing.
  __device__ __forceinline__ void load(const KMeans& p, uint32_t s,
                                       const KMeansCandidate* candidates, uint32_t size) {
    length = subspace_length(p, s);
    own = range_of(size);
#pragma unroll
    for (uint32_t i = 0; i < kOwned; i++) {
      const bool there = own.from + i < own.to;
      const KMeansCandidate candidate = candidates[there ? own.from + i : 0];
      rows[i] = row_of(p, candidate.row) + subspace_offset(p, s);
      nearest[i] = there ? candidate.nearest : 0.0f;
      if constexpr (kKept) {
#pragma unroll
        for (uint32_t d = 0; d < kLength; d++) {
          components[i][d] = read(i, d);
        }
      }
    }
  }

  __device__ __forceinline__ float read(uint32_t i, uint32_t d) const {
    return d < length ? __ldg(rows[i] + d) : 0.0f;
  }

  __device__ __forceinline__ float component(uint32_t i, uint32_t d) const {
    if constexpr (kKept) {
      return components[i][d];
    } else {
      return read(i, d);
    }
  }

  __device__ __forceinline__ uint32_t draw(DrawShared& shared) const {
    return vamana::draw(shared, own, InRegisters{own.from, nearest[0], nearest[1]});
  }

  // Makes a candidate the centroid c and updates the distances of all.
  __device__ __forceinline__ void take(const KMeans& p, uint32_t s, float* seed, uint32_t chosen,
                                       uint32_t c) {
#pragma unroll
    for (uint32_t i = 0; i < kOwned; i++) {
      if (own.from + i == chosen && chosen < own.to) {
#pragma unroll
        for (uint32_t d = 0; d < kLength; d++) {
          seed[d] = component(i, d);
        }
      }
    }
    __syncthreads();
    if (threadIdx.x < length) {
      centroids_of(p, s)[static_cast<uint64_t>(c) * length + threadIdx.x] = seed[threadIdx.x];
    }
    float sum[kOwned] = {};
#pragma unroll
    for (uint32_t d = 0; d < kLength; d++) {
      const float value = seed[d];
#pragma unroll
      for (uint32_t i = 0; i < kOwned; i++) {
        sum[i] = add_square(sum[i], value, component(i, d));
      }
    }
#pragma unroll
    for (uint32_t i = 0; i < kOwned; i++) {
      // a row is never drawn twice, also where rounding left something
      nearest[i] = own.from + i == chosen ? 0.0f : fminf(nearest[i], sum[i]);
    }
  }
};

template <uint32_t kLength>
__device__ __forceinline__ void seed_all(const KMeans& p, DrawShared& shared, uint32_t s,
                                         float* seed, Candidates<kLength>& candidates,
                                         uint32_t size) {
  candidates.take(p, s, seed, draw_first(shared, size), 0);
  for (uint32_t c = 1; c < p.k; c++) {
    const uint32_t chosen = candidates.draw(shared);
    if (chosen == kNone) {
      __syncthreads();
      const uint32_t length = subspace_length(p, s);
      float* centroids = centroids_of(p, s);
      for (uint32_t i = c * length + threadIdx.x; i < p.k * length; i += kDrawThreads) {
        centroids[i] = centroids[i % length];
      }
      return;
    }
    candidates.take(p, s, seed, chosen, c);
  }
}

template <uint32_t kLength>
__device__ __forceinline__ void seed_short(const KMeans& p) {
  __shared__ DrawShared shared;
  __shared__ KMeansCandidate list[kKMeansShortPool];
  __shared__ float seed[kLength];
  const uint32_t s = blockIdx.x;
  if (done(p, s)) {
    return;
  }
  if (threadIdx.x == 0) {
    shared.random = state_of(p, s).random;
  }
  Candidates<kLength> candidates;
  if (p.first != 0) {
    const uint32_t size = collect(p, shared, s, list);
    candidates.load(p, s, list, size);
    seed_all(p, shared, s, seed, candidates, size);
  } else {
    uint32_t c = next_empty(p, s, 0);
    const uint32_t size = c < p.k ? collect(p, shared, s, list) : 0;
    if (size > 0) {
      candidates.load(p, s, list, size);
      for (; c < p.k; c = next_empty(p, s, c + 1)) {
        const uint32_t chosen = candidates.draw(shared);
        if (chosen == kNone) {
          break;
        }
        candidates.take(p, s, seed, chosen, c);
      }
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    state_of(p, s).random = shared.random;
  }
}

}  // namespace

extern "C" __global__ void __launch_bounds__(kDrawThreads, 1) kmeans_seed_4(const __grid_constant__ KMeans p) {
  seed_short<4>(p);
}

extern "C" __global__ void __launch_bounds__(kDrawThreads, 1) kmeans_seed_8(const __grid_constant__ KMeans p) {
  seed_short<8>(p);
}

extern "C" __global__ void __launch_bounds__(kDrawThreads, 1) kmeans_seed_16(const __grid_constant__ KMeans p) {
  seed_short<16>(p);
}
