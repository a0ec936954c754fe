// The nearest centroid of each sub-vector, the lowest ordinal of equal ones. Distances are added up
// component by component without fused multiply-add, so that they equal the CPU's bit by bit.
//
// Short sub-vectors follow the fused kernel of Hanak's thesis (section 4.2) for k = 1, turned
// around: a thread keeps its rows in registers and the block's centroids pass by in shared memory.
#include "kmeans.cuh"

namespace {

using namespace vamana;

constexpr uint32_t kThreads = 256;

// kLength: components, those beyond the subspace's are zeros, which add nothing.
template <uint32_t kLength, uint32_t kRows>
__device__ __forceinline__ void assign_short(const KMeans& p) {
  static_assert(kThreads * kRows <= kKMeansShortRows, "rows of a block");
  float4* shared = reinterpret_cast<float4*>(block_memory());
  constexpr uint32_t kQuads = kLength / 4;
  const uint32_t s = blockIdx.x % p.subspaces;
  if (done(p, s)) {
    return;
  }
  const uint32_t length = subspace_length(p, s);
  const float* centroids = centroids_of(p, s);
  for (uint32_t i = threadIdx.x; i < p.k * kLength; i += kThreads) {
    const uint32_t d = i % kLength;
    reinterpret_cast<float*>(shared)[i] = d < length ? centroids[i / kLength * length + d] : 0.0f;
  }
  __syncthreads();
  const uint32_t offset = subspace_offset(p, s);
  uint64_t begin = static_cast<uint64_t>(blockIdx.x / p.subspaces) * kKMeansShortRows;
  const uint64_t end = min(p.count, begin + kKMeansShortRows);
  for (; begin < end; begin += kThreads * kRows) {
    float x[kRows][kLength];
    float best[kRows];
    uint32_t index[kRows];
#pragma unroll
    for (uint32_t r = 0; r < kRows; r++) {
      const uint64_t row = begin + r * kThreads + threadIdx.x;
      const float* from = row_of(p, min(row, p.count - 1)) + offset;
      best[r] = INFINITY;
      index[r] = 0;
#pragma unroll
      for (uint32_t d = 0; d < kLength; d++) {
        x[r][d] = d < length ? from[d] : 0.0f;
      }
    }
#pragma unroll 2
    for (uint32_t c = 0; c < p.k; c++) {
      float sum[kRows];
#pragma unroll
      for (uint32_t q = 0; q < kQuads; q++) {
        const float4 component = shared[c * kQuads + q];
#pragma unroll
        for (uint32_t r = 0; r < kRows; r++) {
          sum[r] = add_square(q == 0 ? 0.0f : sum[r], x[r][4 * q], component.x);
          sum[r] = add_square(sum[r], x[r][4 * q + 1], component.y);
          sum[r] = add_square(sum[r], x[r][4 * q + 2], component.z);
          sum[r] = add_square(sum[r], x[r][4 * q + 3], component.w);
        }
      }
#pragma unroll
      for (uint32_t r = 0; r < kRows; r++) {
        if (sum[r] < best[r]) {
          best[r] = sum[r];
          index[r] = c;
        }
      }
    }
#pragma unroll
    for (uint32_t r = 0; r < kRows; r++) {
      const uint64_t row = begin + r * kThreads + threadIdx.x;
      if (row < p.count) {
        assign(p, s, row, index[r], best[r]);
      }
    }
  }
}

// The tile kernel: 128 rows by 128 centroids, 8 by 8 a thread.
constexpr uint32_t kTile = kKMeansTileRows;
constexpr uint32_t kStep = 8;
constexpr uint32_t kOwn = 8;
constexpr uint32_t kAcross = kTile / kOwn;
constexpr uint32_t kLoaded = kTile * kStep / kThreads;

struct Tiles {
  float rows[kStep][kTile + 4];
  float centroids[kStep][kTile + 4];
};

// Components [from, from + 8) of a row that starts at source, zeros beyond length.
__device__ __forceinline__ void fetch(const float* source, uint32_t from, uint32_t length,
                                      float (&target)[kLoaded]) {
#pragma unroll
  for (uint32_t i = 0; i < kLoaded; i++) {
    target[i] = from + i < length ? source[from + i] : 0.0f;
  }
}

__device__ __forceinline__ void keep(float (&tile)[kStep][kTile + 4], uint32_t column,
                                     uint32_t from, const float (&values)[kLoaded]) {
#pragma unroll
  for (uint32_t i = 0; i < kLoaded; i++) {
    tile[from + i][column] = values[i];
  }
}

}  // namespace

extern "C" __global__ void __launch_bounds__(kThreads) kmeans_assign_4(const __grid_constant__ KMeans p) {
  assign_short<4, 4>(p);
}

extern "C" __global__ void __launch_bounds__(kThreads) kmeans_assign_8(const __grid_constant__ KMeans p) {
  assign_short<8, 4>(p);
}

extern "C" __global__ void __launch_bounds__(kThreads) kmeans_assign_16(const __grid_constant__ KMeans p) {
  assign_short<16, 2>(p);
}

extern "C" __global__ void __launch_bounds__(kThreads) kmeans_assign_tile(const __grid_constant__ KMeans p) {
  __shared__ Tiles tiles;
  const uint32_t s = blockIdx.x % p.subspaces;
  if (done(p, s)) {
    return;
  }
  const uint64_t begin = static_cast<uint64_t>(blockIdx.x / p.subspaces) * kTile;
  const uint32_t length = subspace_length(p, s);
  const float* centroids = centroids_of(p, s);
  const uint32_t loaded = threadIdx.x / 2;
  const uint32_t part = threadIdx.x % 2 * kLoaded;
  const float* row =
      row_of(p, min(begin + loaded, p.count - 1)) + subspace_offset(p, s);
  const uint32_t own_row = threadIdx.x / kAcross * kOwn;
  const uint32_t own_centroid = threadIdx.x % kAcross * 4;
  float best[kOwn];
  uint32_t index[kOwn];
#pragma unroll
  for (uint32_t r = 0; r < kOwn; r++) {
    best[r] = INFINITY;
    index[r] = 0;
  }
  for (uint32_t first = 0; first < p.k; first += kTile) {
    const float* centroid = centroids + static_cast<uint64_t>(min(first + loaded, p.k - 1)) * length;
    float sum[kOwn][kOwn] = {};
    float next_row[kLoaded];
    float next_centroid[kLoaded];
    fetch(row, part, length, next_row);
    fetch(centroid, part, length, next_centroid);
    for (uint32_t d = 0; d < length; d += kStep) {
      __syncthreads();
      keep(tiles.rows, loaded, part, next_row);
      keep(tiles.centroids, loaded, part, next_centroid);
      __syncthreads();
      if (d + kStep < length) {
        fetch(row, d + kStep + part, length, next_row);
        fetch(centroid, d + kStep + part, length, next_centroid);
      }
#pragma unroll
      for (uint32_t i = 0; i < kStep; i++) {
        float x[kOwn];
        float c[kOwn];
#pragma unroll
        for (uint32_t j = 0; j < kOwn; j += 4) {
          *reinterpret_cast<float4*>(x + j) =
              *reinterpret_cast<const float4*>(&tiles.rows[i][own_row + j]);
          *reinterpret_cast<float4*>(c + j) =
              *reinterpret_cast<const float4*>(&tiles.centroids[i][own_centroid + j / 4 * (kTile / 2)]);
        }
#pragma unroll
        for (uint32_t r = 0; r < kOwn; r++) {
#pragma unroll
          for (uint32_t j = 0; j < kOwn; j++) {
            sum[r][j] = add_square(sum[r][j], x[r], c[j]);
          }
        }
      }
    }
#pragma unroll
    for (uint32_t j = 0; j < kOwn; j++) {
      const uint32_t c = first + own_centroid + j % 4 + j / 4 * (kTile / 2);
#pragma unroll
      for (uint32_t r = 0; r < kOwn; r++) {
        if (c < p.k && sum[r][j] < best[r]) {
          best[r] = sum[r][j];
          index[r] = c;
        }
      }
    }
  }
#pragma unroll
  for (uint32_t r = 0; r < kOwn; r++) {
#pragma unroll
    for (uint32_t other = 1; other < kAcross; other *= 2) {
      const float distance = __shfl_xor_sync(0xFFFFFFFFu, best[r], other);
      const uint32_t centroid = __shfl_xor_sync(0xFFFFFFFFu, index[r], other);
      if (distance < best[r] || (distance == best[r] && centroid < index[r])) {
        best[r] = distance;
        index[r] = centroid;
      }
    }
    const uint64_t target = begin + own_row + r;
    if (threadIdx.x % kAcross == 0 && target < p.count) {
      assign(p, s, target, index[r], best[r]);
    }
  }
}
