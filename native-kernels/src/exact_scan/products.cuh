// Products of a tile of queries and a tile of candidates on tensor cores. Shared memory holds
// rows of 128 bytes whose 16-byte pieces are swapped so that a warp's loads meet no bank twice.
#pragma once

#include <cstdint>

#include "tensor.cuh"
#include "vamana/exact_scan.h"

namespace vamana {

enum class Format { kHalf, kUnsigned, kSigned };

template <Format FORMAT>
struct Product {
  using Sum = int32_t;
};

template <>
struct Product<Format::kHalf> {
  using Sum = float;
};

template <Format FORMAT>
__device__ __forceinline__ void multiply(typename Product<FORMAT>::Sum (&c)[4],
                                         const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  if constexpr (FORMAT == Format::kHalf) {
    multiply_halves(c, a, b0, b1);
  } else if constexpr (FORMAT == Format::kUnsigned) {
    multiply_unsigned(c, a, b0, b1);
  } else {
    multiply_signed(c, a, b0, b1);
  }
}

// Byte of a 16-byte piece of a row in a tile.
__device__ __forceinline__ uint32_t piece_at(uint32_t row, uint32_t piece) {
  return row * kExactDepth + ((piece ^ (row & 7u)) * 16u);
}


// One stage of the pipeline: part of the queries, part of the candidates, and for the first part
// of a tile thresholds and biases.
struct Stage {
  uint8_t targets[kExactTile * kExactDepth];
  uint8_t copies[kExactTile * kExactDepth];
  uint32_t thresholds[kExactTile];
  uint32_t biases[kExactTile];
};

static_assert(sizeof(Stage) == kExactStageBytes, "Stage");

constexpr uint32_t kWarpsOfQueries = 2;
constexpr uint32_t kWarpsOfRows = 4;
constexpr uint32_t kProductThreads = 32 * kWarpsOfQueries * kWarpsOfRows;
constexpr uint32_t kQueryTiles = kExactTile / kWarpsOfQueries / 16;  // 4
constexpr uint32_t kRowTiles = kExactTile / kWarpsOfRows / 8;        // 4

__device__ __forceinline__ void copy_tile(uint32_t target, const uint8_t* source, uint32_t stride) {
#pragma unroll
  for (uint32_t i = 0; i < kExactTile * 8 / kProductThreads; i++) {
    const uint32_t at = threadIdx.x + i * kProductThreads;
    copy_async(target + piece_at(at / 8, at % 8),
               source + static_cast<uint64_t>(at / 8) * stride + at % 8 * 16);
  }
}

template <typename Sum>
__device__ __forceinline__ Sum sum_of(uint32_t bits) {
  if constexpr (Sum(0.5) != Sum(0)) {
    return __uint_as_float(bits);
  } else {
    return static_cast<Sum>(bits);
  }
}

__device__ __forceinline__ uint32_t bits_of(float value) { return __float_as_uint(value); }
__device__ __forceinline__ uint32_t bits_of(int32_t value) { return static_cast<uint32_t>(value); }

template <typename Sum>
__device__ __forceinline__ Sum larger(Sum a, Sum b) {
  return a < b ? b : a;
}

// Everything of one thread that belongs to a tile.
template <Format FORMAT>
struct Block {
  using Sum = typename Product<FORMAT>::Sum;
  Sum sums[kQueryTiles][kRowTiles][4];
  Sum thresholds[kQueryTiles][2];

  __device__ __forceinline__ uint32_t query_base() const {
    return (threadIdx.x / 32 % kWarpsOfQueries) * (kExactTile / kWarpsOfQueries);
  }

  __device__ __forceinline__ uint32_t row_base() const {
    return (threadIdx.x / 32 / kWarpsOfQueries) * (kExactTile / kWarpsOfRows);
  }

  __device__ __forceinline__ void begin(const Stage& stage) {
    const uint32_t lane = threadIdx.x % 32;
#pragma unroll
    for (uint32_t n = 0; n < kRowTiles; n++) {
      const uint2 bias =
          *reinterpret_cast<const uint2*>(&stage.biases[row_base() + n * 8 + lane % 4 * 2]);
#pragma unroll
      for (uint32_t m = 0; m < kQueryTiles; m++) {
        sums[m][n][0] = sums[m][n][2] = sum_of<Sum>(bias.x);
        sums[m][n][1] = sums[m][n][3] = sum_of<Sum>(bias.y);
      }
    }
#pragma unroll
    for (uint32_t m = 0; m < kQueryTiles; m++) {
      thresholds[m][0] = sum_of<Sum>(stage.thresholds[query_base() + m * 16 + lane / 4]);
      thresholds[m][1] = sum_of<Sum>(stage.thresholds[query_base() + m * 16 + lane / 4 + 8]);
    }
  }

  __device__ __forceinline__ void add(const Stage& stage) {
    const uint32_t lane = threadIdx.x % 32;
    const uint32_t targets = shared_address(stage.targets);
    const uint32_t copies = shared_address(stage.copies);
#pragma unroll
    for (uint32_t step = 0; step < kExactDepth / 32; step++) {
      uint32_t a[kQueryTiles][4];
      uint32_t b[kRowTiles / 2][4];
#pragma unroll
      for (uint32_t m = 0; m < kQueryTiles; m++) {
        load_matrices(a[m], targets + piece_at(query_base() + m * 16 + lane % 16,
                                               step * 2 + lane / 16));
      }
#pragma unroll
      for (uint32_t n = 0; n < kRowTiles / 2; n++) {
        load_matrices(b[n], copies + piece_at(row_base() + n * 16 + lane / 16 * 8 + lane % 8,
                                              step * 2 + lane / 8 % 2));
      }
#pragma unroll
      for (uint32_t m = 0; m < kQueryTiles; m++) {
#pragma unroll
        for (uint32_t n = 0; n < kRowTiles; n++) {
          multiply<FORMAT>(sums[m][n], a[m], b[n / 2][n % 2 * 2], b[n / 2][n % 2 * 2 + 1]);
        }
      }
    }
  }

  __device__ __forceinline__ void append(const ExactScan& p, uint32_t first_query,
                                         uint32_t first_row) const {
    const uint32_t lane = threadIdx.x % 32;
#pragma unroll
    for (uint32_t m = 0; m < kQueryTiles; m++) {
#pragma unroll
      for (uint32_t half = 0; half < 2; half++) {
        Sum best = sums[m][0][half * 2];
#pragma unroll
        for (uint32_t n = 0; n < kRowTiles; n++) {
          best = larger(best, larger(sums[m][n][half * 2], sums[m][n][half * 2 + 1]));
        }
        if (best >= thresholds[m][half]) {
          const uint32_t query = first_query + query_base() + m * 16 + half * 8 + lane / 4;
          uint32_t* count = reinterpret_cast<uint32_t*>(p.counts) + query;
          ExactEntry* buffer = reinterpret_cast<ExactEntry*>(p.buffers) +
                               static_cast<uint64_t>(query) * p.capacity;
#pragma unroll
          for (uint32_t i = 0; i < kRowTiles * 2; i++) {
            const Sum sum = sums[m][i / 2][half * 2 + i % 2];
            if (sum >= thresholds[m][half]) {
              const uint32_t slot = atomicAdd(count, 1u);
              if (slot < p.capacity) {
                const uint32_t row = first_row + row_base() + i / 2 * 8 + lane % 4 * 2 + i % 2;
                buffer[slot] = ExactEntry{bits_of(sum), row};
              }
            }
          }
        }
      }
    }
  }
};

}  // namespace vamana
