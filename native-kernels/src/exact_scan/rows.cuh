// Sums over the components of a few rows and queries. Eight lanes share a row, sixteen bytes each
// at a time, so that a warp reads four runs of 128 bytes.
#pragma once

#include <cstdint>

#include "byte_dot.cuh"
#include "vamana/bytes.h"
#include "vamana/exact_scan.h"
#include "vamana/score.h"

namespace vamana {

constexpr uint32_t kRowLanes = 8;

// Type of sums; sums of bytes are integers, which are exact.
template <bool BYTES>
struct RowSum {
  using Number = float;
};

template <>
struct RowSum<true> {
  using Number = int32_t;
};

template <bool BYTES>
using NumberOf = typename RowSum<BYTES>::Number;

// A query in shared memory takes so many words: floats, or four signed bytes each.
template <bool BYTES>
__device__ __forceinline__ uint32_t query_words(uint32_t dimension) {
  return (dimension + 15) / 16 * (BYTES ? 4 : 16);
}

// Word i of a query that lies in memory as floats; zeros behind the last component.
template <bool BYTES>
__device__ __forceinline__ uint32_t query_word(const float* source, uint32_t i, uint32_t dimension) {
  if constexpr (BYTES) {
    uint32_t word = 0;
#pragma unroll
    for (uint32_t b = 0; b < 4; b++) {
      const uint32_t d = i * 4 + b;
      const int32_t value = d < dimension ? static_cast<int32_t>(source[d]) : 0;
      word |= (static_cast<uint32_t>(value) & 255u) << (8 * b);
    }
    return word;
  } else {
    return i < dimension ? __float_as_uint(source[i]) : 0;
  }
}

// This lane's part of |q|^2.
template <bool BYTES>
__device__ __forceinline__ NumberOf<BYTES> query_part(const uint32_t* query, uint32_t dimension) {
  NumberOf<BYTES> norm = 0;
  for (uint32_t i = threadIdx.x % kRowLanes; i < query_words<BYTES>(dimension); i += kRowLanes) {
    if constexpr (BYTES) {
      norm = dot_bytes(query[i], query[i], norm);
    } else {
      norm = fmaf(__uint_as_float(query[i]), __uint_as_float(query[i]), norm);
    }
  }
  return norm;
}

__device__ __forceinline__ uint4 load_chunk(const uint8_t* row, uint32_t chunk) {
  return __ldg(reinterpret_cast<const uint4*>(row) + chunk);
}

// Sums of this lane's chunks of floats; queries lie in shared memory, padded with zeros to whole chunks.
template <bool EUCLIDEAN, int QUERIES, int ROWS>
__device__ __forceinline__ void add_chunks(const uint8_t* const (&rows)[ROWS], const uint32_t* queries,
                                           uint32_t dimension, float (&first)[ROWS][QUERIES],
                                           float (&second)[ROWS]) {
  constexpr uint32_t kComponents = 4;
  const uint32_t chunks = (dimension + kComponents - 1) / kComponents;
#pragma unroll(QUERIES > 1 ? 1 : 4)
  for (uint32_t c = threadIdx.x % kRowLanes; c < chunks; c += kRowLanes) {
    uint4 chunk[ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
      chunk[r] = load_chunk(rows[r], c);
    }
    const uint32_t valid = dimension - c * kComponents;
    float x[ROWS][4];
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
      const uint32_t words[4] = {chunk[r].x, chunk[r].y, chunk[r].z, chunk[r].w};
#pragma unroll
      for (uint32_t i = 0; i < 4; i++) {
        x[r][i] = i < valid ? __uint_as_float(words[i]) : 0;
        if constexpr (!EUCLIDEAN) {
          second[r] = fmaf(x[r][i], x[r][i], second[r]);
        }
      }
    }
#pragma unroll
    for (int q = 0; q < QUERIES; q++) {
      const float4 target = *reinterpret_cast<const float4*>(
          queries + q * query_words<false>(dimension) + c * kComponents);
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

// As above, of bytes: dot products with the queries, and of rows with themselves.
template <int QUERIES, int ROWS>
__device__ __forceinline__ void add_byte_chunks(const uint8_t* const (&rows)[ROWS],
                                                const uint32_t* queries, uint32_t dimension,
                                                int32_t (&first)[ROWS][QUERIES],
                                                int32_t (&second)[ROWS]) {
  const uint32_t chunks = (dimension + 15) / 16;
#pragma unroll(QUERIES > 1 ? 1 : 2)
  for (uint32_t c = threadIdx.x % kRowLanes; c < chunks; c += kRowLanes) {
    uint4 chunk[ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
      chunk[r] = load_chunk(rows[r], c);
    }
    if (dimension - c * 16 < 16) {
#pragma unroll
      for (int r = 0; r < ROWS; r++) {
        chunk[r] = first_bytes(chunk[r], dimension - c * 16);
      }
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
      second[r] = dot_chunks(chunk[r], chunk[r], second[r]);
    }
#pragma unroll
    for (int q = 0; q < QUERIES; q++) {
      const uint4 target =
          *reinterpret_cast<const uint4*>(queries + q * query_words<true>(dimension) + c * 4);
#pragma unroll
      for (int r = 0; r < ROWS; r++) {
        first[r][q] = dot_chunks(chunk[r], target, first[r][q]);
      }
    }
  }
}

template <class Number>
__device__ __forceinline__ Number sum_of_row(Number value) {
#pragma unroll
  for (uint32_t step = kRowLanes / 2; step > 0; step /= 2) {
    value += __shfl_xor_sync(0xFFFFFFFFu, value, step);
  }
  return value;
}

// The first query whose sums a lane has, and how many.
template <int QUERIES>
__device__ __forceinline__ uint32_t first_of_lane() {
  return threadIdx.x % kRowLanes * QUERIES / kRowLanes;
}

template <int QUERIES>
constexpr int kOfLane = QUERIES > static_cast<int>(kRowLanes) ? QUERIES / kRowLanes : 1;

// Adds up the values of the lanes that share a row. A lane gets the sums of kOfLane queries, from first_of_lane on, so eight
// lanes with 16 queries get two each. With fewer queries than lanes several lanes get the same sum.
template <int LEFT, uint32_t STEP, int QUERIES, class Number>
__device__ __forceinline__ void divide_sums(Number (&values)[QUERIES]) {
  if constexpr (STEP > 0) {
    if constexpr (LEFT > 1) {
      const bool upper = (threadIdx.x & STEP) != 0;
#pragma unroll
      for (int q = 0; q < LEFT / 2; q++) {
        const Number given = upper ? values[q] : values[q + LEFT / 2];
        const Number kept = upper ? values[q + LEFT / 2] : values[q];
        values[q] = kept + __shfl_xor_sync(0xFFFFFFFFu, given, STEP);
      }
      divide_sums<LEFT / 2, STEP / 2>(values);
    } else {
      values[0] += __shfl_xor_sync(0xFFFFFFFFu, values[0], STEP);
      divide_sums<1, STEP / 2>(values);
    }
  }
}

// Sums of whole rows: `second` in all lanes that share a row, `first` divided among them.
template <bool BYTES, int QUERIES, int ROWS>
__device__ __forceinline__ void sum_rows(bool euclidean, const uint8_t* const (&rows)[ROWS],
                                         const uint32_t* queries, uint32_t dimension,
                                         NumberOf<BYTES> (&first)[ROWS][QUERIES],
                                         NumberOf<BYTES> (&second)[ROWS]) {
#pragma unroll
  for (int r = 0; r < ROWS; r++) {
    second[r] = 0;
#pragma unroll
    for (int q = 0; q < QUERIES; q++) {
      first[r][q] = 0;
    }
  }
  if constexpr (BYTES) {
    add_byte_chunks(rows, queries, dimension, first, second);
  } else if (euclidean) {
    add_chunks<true>(rows, queries, dimension, first, second);
  } else {
    add_chunks<false>(rows, queries, dimension, first, second);
  }
#pragma unroll
  for (int r = 0; r < ROWS; r++) {
    second[r] = sum_of_row(second[r]);
    divide_sums<QUERIES, kRowLanes / 2>(first[r]);
  }
}

// Lucene's score from the sums of a row and the |q|^2 of a query.
template <bool BYTES>
__device__ __forceinline__ float row_score(const ExactScan& p, NumberOf<BYTES> sum,
                                           NumberOf<BYTES> square, NumberOf<BYTES> query_norm2) {
  if constexpr (BYTES) {
    return byte_score(p.similarity, p.dimension, sum, square, query_norm2);
  } else {
    return score_of(p.similarity, Sums{sum, square}, query_norm2);
  }
}

}  // namespace vamana
