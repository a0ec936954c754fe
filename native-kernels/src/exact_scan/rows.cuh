// Sums over the components of a few rows and queries. Eight lanes share a row, sixteen bytes each
// at a time, so that a warp reads four runs of 128 bytes.
#pragma once

#include <cstdint>

#include "vamana/exact_scan.h"
#include "vamana/score.h"

namespace vamana {

constexpr uint32_t kRowLanes = 8;

template <bool BYTES>
struct RowChunk {
  static constexpr uint32_t kComponents = BYTES ? 16 : 4;
  uint4 bits;

  __device__ __forceinline__ void load(const uint8_t* row, uint32_t chunk) {
    bits = __ldg(reinterpret_cast<const uint4*>(row) + chunk);
  }

  // Component i, which is a constant wherever this is called.
  __device__ __forceinline__ float component(uint32_t i) const {
    if constexpr (BYTES) {
      uint32_t word = i / 4 == 0 ? bits.x : i / 4 == 1 ? bits.y : i / 4 == 2 ? bits.z : bits.w;
      return static_cast<float>(static_cast<int8_t>(word >> (8 * (i % 4))));
    } else {
      return __uint_as_float(i == 0 ? bits.x : i == 1 ? bits.y : i == 2 ? bits.z : bits.w);
    }
  }
};

// Sums of this lane's chunks; queries lie in shared memory, padded with zeros to whole chunks.
template <bool EUCLIDEAN, bool BYTES, int QUERIES, int ROWS>
__device__ __forceinline__ void add_chunks(const uint8_t* const (&rows)[ROWS], const float* queries,
                                           uint32_t query_floats, uint32_t dimension,
                                           float (&first)[ROWS][QUERIES], float (&second)[ROWS]) {
  using Chunk = RowChunk<BYTES>;
  constexpr uint32_t kComponents = Chunk::kComponents;
  const uint32_t chunks = (dimension + kComponents - 1) / kComponents;
#pragma unroll(QUERIES > 1 ? 1 : BYTES ? 2 : 4)
  for (uint32_t c = threadIdx.x % kRowLanes; c < chunks; c += kRowLanes) {
    Chunk chunk[ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
      chunk[r].load(rows[r], c);
    }
    const uint32_t valid = dimension - c * kComponents;
#pragma unroll
    for (uint32_t part = 0; part < kComponents / 4; part++) {
      float x[ROWS][4];
#pragma unroll
      for (int r = 0; r < ROWS; r++) {
#pragma unroll
        for (uint32_t i = 0; i < 4; i++) {
          const float value = chunk[r].component(part * 4 + i);
          x[r][i] = part * 4 + i < valid ? value : 0;
          if constexpr (!EUCLIDEAN) {
            second[r] = fmaf(x[r][i], x[r][i], second[r]);
          }
        }
      }
#pragma unroll
      for (int q = 0; q < QUERIES; q++) {
        const float4 target = *reinterpret_cast<const float4*>(queries + q * query_floats +
                                                               c * kComponents + part * 4);
        const float parts[4] = {target.x, target.y, target.z, target.w};
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
#pragma unroll
          for (uint32_t i = 0; i < 4; i++) {
            if constexpr (EUCLIDEAN) {
              const float difference = parts[i] - x[r][i];
              first[r][q] = fmaf(difference, difference, first[r][q]);
            } else {
              first[r][q] = fmaf(parts[i], x[r][i], first[r][q]);
            }
          }
        }
      }
    }
  }
}

__device__ __forceinline__ float sum_of_row(float value) {
#pragma unroll
  for (uint32_t step = kRowLanes / 2; step > 0; step /= 2) {
    value += __shfl_xor_sync(0xFFFFFFFFu, value, step);
  }
  return value;
}

// Sums of whole rows, in all lanes that share a row.
template <bool BYTES, int QUERIES, int ROWS>
__device__ __forceinline__ void sum_rows(bool euclidean, const uint8_t* const (&rows)[ROWS],
                                         const float* queries, uint32_t query_floats,
                                         uint32_t dimension, float (&first)[ROWS][QUERIES],
                                         float (&second)[ROWS]) {
#pragma unroll
  for (int r = 0; r < ROWS; r++) {
    second[r] = 0;
#pragma unroll
    for (int q = 0; q < QUERIES; q++) {
      first[r][q] = 0;
    }
  }
  if (euclidean) {
    add_chunks<true, BYTES>(rows, queries, query_floats, dimension, first, second);
  } else {
    add_chunks<false, BYTES>(rows, queries, query_floats, dimension, first, second);
  }
#pragma unroll
  for (int r = 0; r < ROWS; r++) {
    second[r] = sum_of_row(second[r]);
#pragma unroll
    for (int q = 0; q < QUERIES; q++) {
      first[r][q] = sum_of_row(first[r][q]);
    }
  }
}

}  // namespace vamana
