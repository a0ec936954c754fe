// Where the kernels of k-means find things; vamana/kmeans.h describes them.
#pragma once

#include <cmath>

#include "cta.cuh"
#include "vamana/kmeans.h"

namespace vamana {

template <typename T>
__device__ __forceinline__ T* at(uint64_t address) {
  return reinterpret_cast<T*>(address);
}

__device__ __forceinline__ KMeansState& state_of(const KMeans& p, uint32_t s) {
  return at<KMeansState>(p.states)[s];
}

// Whether a block has nothing to do for a subspace.
__device__ __forceinline__ bool done(const KMeans& p, uint32_t s) {
  return p.states != 0 && state_of(p, s).done != 0;
}

__device__ __forceinline__ const float* row_of(const KMeans& p, uint64_t row) {
  return at<const float>(p.rows + row * p.row_stride);
}

__device__ __forceinline__ float* centroids_of(const KMeans& p, uint32_t s) {
  return at<float>(p.centroids) + static_cast<uint64_t>(p.k) * subspace_offset(p, s);
}

__device__ __forceinline__ uint32_t* assigned_of(const KMeans& p, uint32_t s) {
  return at<uint32_t>(p.assigned) + s * p.capacity;
}

__device__ __forceinline__ float* errors_of(const KMeans& p, uint32_t s) {
  return at<float>(p.errors) + s * p.capacity;
}

__device__ __forceinline__ uint32_t* starts_of(const KMeans& p, uint32_t s) {
  return at<uint32_t>(p.starts) + static_cast<uint64_t>(s) * (p.k + 1);
}

__device__ __forceinline__ uint32_t* parts_of(const KMeans& p, uint32_t s) {
  return at<uint32_t>(p.parts) + static_cast<uint64_t>(s) * (p.k + 1);
}

// Keeps what was found for a row.
__device__ __forceinline__ void assign(const KMeans& p, uint32_t s, uint64_t row, uint32_t centroid,
                                       float error) {
  if (p.codes != 0) {
    at<uint8_t>(p.codes)[row * p.subspaces + s] = static_cast<uint8_t>(centroid);
  } else {
    assigned_of(p, s)[row] = centroid;
    errors_of(p, s)[row] = error;
  }
}

}  // namespace vamana
