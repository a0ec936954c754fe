// Assignment of rows of bytes on tensor cores. Centroids are rounded to steps of 1/256 and split
// into a high and a low byte, so that both products with a row are sums of integers: the nearest of
// the rounded centroids is found without any further rounding, and without distances in memory.
#include "kmeans.cuh"
#include "tensor.cuh"

namespace {

using namespace vamana;

constexpr uint32_t kThreads = 256;
constexpr uint32_t kRows = kKMeansTileRows;
constexpr uint32_t kCentroids = 128;       // of a tile; a block goes through all tiles
constexpr uint32_t kStep = kKMeansByteStep;
constexpr uint32_t kStages = 4;
constexpr uint32_t kChunk = 16;            // bytes of a copy
constexpr uint32_t kChunks = kStep / kChunk;
constexpr uint32_t kStageBytes = 2 * kCentroids * kStep;
constexpr uint32_t kWarpRows = 64;
constexpr uint32_t kWarpCentroids = 32;
constexpr uint32_t kWarpsAcross = kCentroids / kWarpCentroids;

// Where a chunk of a row of kStep bytes lies: eight rows' chunks of one number meet no bank twice.
__device__ __forceinline__ uint32_t place(uint32_t row, uint32_t chunk) {
  return row * kStep + ((chunk ^ (row >> 1 & 3)) * kChunk);
}

// What a thread copies of each step of the centroids: the same chunk of some rows. Steps follow one
// another, all of a tile and then those of the next.
struct CentroidCopies {
  static constexpr uint32_t kRowsApart = kThreads / kChunks;
  static constexpr uint32_t kCopies = 2 * kCentroids / kRowsApart;

  const uint8_t* sources[kCopies];
  uint32_t targets[kCopies];
  uint32_t step = 0;
  uint32_t tile = 0;

  __device__ __forceinline__ void begin(const KMeans& p) {
    const uint32_t chunk = threadIdx.x % kChunks;
#pragma unroll
    for (uint32_t i = 0; i < kCopies; i++) {
      const uint32_t row = threadIdx.x / kChunks + i * kRowsApart;
      const uint32_t centroid = min(tile * kCentroids + row % kCentroids, p.k - 1);
      const uint64_t from = row < kCentroids ? centroid : p.k + centroid;
      sources[i] = at<const uint8_t>(p.fixed + from * p.fixed_stride) + chunk * kChunk;
      targets[i] = place(row, chunk);
    }
  }

  // Starts the copies of the next step.
  __device__ __forceinline__ void next(const KMeans& p, uint32_t steps, uint32_t stage) {
#pragma unroll
    for (uint32_t i = 0; i < kCopies; i++) {
      copy_async(stage + targets[i], sources[i]);
      sources[i] += kStep;
    }
    if (++step == steps) {
      step = 0;
      tile++;
      begin(p);
    }
  }
};

}  // namespace

// Bytes of a row that are no components of it may hold anything: centroids are zero there. Rows
// are 16-byte aligned, and may be read up to the next multiple of kKMeansByteStep.
extern "C" __global__ void __launch_bounds__(kThreads) kmeans_assign_bytes(const __grid_constant__ KMeans p) {
  extern __shared__ __align__(128) uint8_t shared[];
  __shared__ long long best[kWarpsAcross][kRows];
  if (done(p, 0)) {
    return;
  }
  const uint32_t steps = p.fixed_stride / kStep;
  const uint32_t rows = shared_address(shared);
  const uint32_t stages = rows + steps * kRows * kStep;
  const uint64_t begin = static_cast<uint64_t>(blockIdx.x) * kRows;
  const uint32_t lane = threadIdx.x % 32;
  const uint32_t warp = threadIdx.x / 32;
  const uint32_t warp_row = warp / kWarpsAcross * kWarpRows;
  const uint32_t warp_centroid = warp % kWarpsAcross * kWarpCentroids;
  for (uint32_t i = threadIdx.x; i < kRows * steps * kChunks; i += kThreads) {
    const uint32_t row = i / (steps * kChunks);
    const uint32_t chunk = i % (steps * kChunks);
    copy_async(rows + chunk / kChunks * kRows * kStep + place(row, chunk % kChunks),
               row_of<uint8_t>(p, min(begin + row, p.count - 1)) + chunk * kChunk);
  }
  const uint32_t tiles = (p.k + kCentroids - 1) / kCentroids;
  const uint32_t total = tiles * steps;
  CentroidCopies copies;
  copies.begin(p);
#pragma unroll
  for (uint32_t stage = 0; stage < kStages - 1; stage++) {
    if (stage < total) {
      copies.next(p, steps, stages + stage * kStageBytes);
    }
    commit_copies();
  }
  // a thread's rows: lane / 4 and that + 8 of each 16
  long long key[kWarpRows / 8];
#pragma unroll
  for (uint32_t i = 0; i < kWarpRows / 8; i++) {
    key[i] = INT64_MAX;
  }
  uint32_t turn = 0;
  for (uint32_t tile = 0; tile < tiles; tile++) {
    int32_t high[kWarpRows / 16][kWarpCentroids / 8][4] = {};
    int32_t low[kWarpRows / 16][kWarpCentroids / 8][4] = {};
    for (uint32_t step = 0; step < steps; step++, turn++) {
      await_copies<kStages - 2>();
      __syncthreads();
      const uint32_t ahead = turn + kStages - 1;
      if (ahead < total) {
        copies.next(p, steps, stages + ahead % kStages * kStageBytes);
      }
      commit_copies();
      const uint32_t here = rows + step * kRows * kStep;
      const uint32_t there = stages + turn % kStages * kStageBytes;
#pragma unroll
      for (uint32_t half = 0; half < 2; half++) {
        uint32_t a[kWarpRows / 16][4];
        uint32_t b[2][kWarpCentroids / 16][4];
#pragma unroll
        for (uint32_t i = 0; i < kWarpRows / 16; i++) {
          load_matrices(a[i], here + place(warp_row + i * 16 + lane % 16, half * 2 + lane / 16));
        }
#pragma unroll
        for (uint32_t j = 0; j < kWarpCentroids / 16; j++) {
          const uint32_t centroid = warp_centroid + j * 16 + lane % 8 + lane / 16 * 8;
          const uint32_t chunk = half * 2 + lane / 8 % 2;
          load_matrices(b[0][j], there + place(centroid, chunk));
          load_matrices(b[1][j], there + place(kCentroids + centroid, chunk));
        }
#pragma unroll
        for (uint32_t j = 0; j < kWarpCentroids / 16; j++) {
#pragma unroll
          for (uint32_t i = 0; i < kWarpRows / 16; i++) {
            multiply_unsigned(high[i][2 * j], a[i], b[0][j][0], b[0][j][1]);
            multiply_unsigned(high[i][2 * j + 1], a[i], b[0][j][2], b[0][j][3]);
            multiply_unsigned(low[i][2 * j], a[i], b[1][j][0], b[1][j][1]);
            multiply_unsigned(low[i][2 * j + 1], a[i], b[1][j][2], b[1][j][3]);
          }
        }
      }
    }
#pragma unroll
    for (uint32_t j = 0; j < kWarpCentroids / 8; j++) {
#pragma unroll
      for (uint32_t column = 0; column < 2; column++) {
        const uint32_t centroid =
            tile * kCentroids + warp_centroid + j * 8 + lane % 4 * 2 + column;
        if (centroid < p.k) {
          const long long base = at<const long long>(p.keys)[centroid];
#pragma unroll
          for (uint32_t i = 0; i < kWarpRows / 16; i++) {
            key[2 * i] = min(key[2 * i], static_cast<long long>(kmeans_key(
                                             base, high[i][j][column], low[i][j][column])));
            key[2 * i + 1] =
                min(key[2 * i + 1], static_cast<long long>(kmeans_key(
                                        base, high[i][j][2 + column], low[i][j][2 + column])));
          }
        }
      }
    }
  }
  await_copies<0>();
#pragma unroll
  for (uint32_t i = 0; i < kWarpRows / 8; i++) {
    key[i] = min(key[i], __shfl_xor_sync(0xFFFFFFFFu, key[i], 1));
    key[i] = min(key[i], __shfl_xor_sync(0xFFFFFFFFu, key[i], 2));
    if (lane % 4 == 0) {
      best[warp % kWarpsAcross][warp_row + i * 8 + lane / 4] = key[i];
    }
  }
  __syncthreads();
  const uint32_t row = threadIdx.x;
  if (row < kRows && begin + row < p.count) {
    long long nearest = best[0][row];
#pragma unroll
    for (uint32_t i = 1; i < kWarpsAcross; i++) {
      nearest = min(nearest, best[i][row]);
    }
    uint32_t squares = 0;
    const uint32_t* words = at<const uint32_t>(p.rows + (begin + row) * p.row_stride);
    for (uint32_t d = 0; d < p.dims; d += 4) {
      uint32_t word = words[d / 4];
      if (d + 4 > p.dims) {
        word &= 0xFFFFFFFFu >> (8 * (d + 4 - p.dims));
      }
      squares = __dp4a(word, word, squares);
    }
    assign(p, 0, begin + row, kmeans_key_centroid(nearest), kmeans_key_distance(nearest, squares));
  }
}

// Rounds the centroids and makes their keys; a block each.
extern "C" __global__ void __launch_bounds__(kThreads) kmeans_fix(const __grid_constant__ KMeans p) {
  __shared__ unsigned long long squares;
  const uint32_t centroid = blockIdx.x;
  if (threadIdx.x == 0) {
    squares = 0;
  }
  __syncthreads();
  const float* from = centroids_of(p, 0) + static_cast<uint64_t>(centroid) * p.dims;
  uint8_t* high = at<uint8_t>(p.fixed) + static_cast<uint64_t>(centroid) * p.fixed_stride;
  uint8_t* low = high + static_cast<uint64_t>(p.k) * p.fixed_stride;
  unsigned long long own = 0;
  for (uint32_t d = threadIdx.x; d < p.fixed_stride; d += kThreads) {
    const uint32_t fixed = d < p.dims ? kmeans_fixed(from[d]) : 0;
    high[d] = static_cast<uint8_t>(fixed >> 8);
    low[d] = static_cast<uint8_t>(fixed);
    own += static_cast<unsigned long long>(fixed) * fixed;
  }
  // integers, so the order of additions does not matter
  atomicAdd(&squares, own);
  __syncthreads();
  if (threadIdx.x == 0) {
    at<int64_t>(p.keys)[centroid] = kmeans_key_base(squares, centroid);
  }
}
