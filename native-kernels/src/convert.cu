// Conversions of vectors when a segment is uploaded; vamana/convert.h describes them.
#include "half.cuh"
#include "vamana/convert.h"
#include "warp.cuh"

namespace {

using namespace vamana;

__device__ __forceinline__ uint64_t thread_number() {
  return static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

__device__ __forceinline__ uint64_t thread_count() {
  return static_cast<uint64_t>(gridDim.x) * blockDim.x;
}

__device__ __forceinline__ const float* row_of(uint64_t source, uint64_t row, uint32_t stride) {
  return reinterpret_cast<const float*>(source + row * stride);
}

// Writes target rows four bytes a thread; word_of(row, first component) packs them.
template <uint32_t kComponents, typename WordOf>
__device__ __forceinline__ void write_words(const Convert& p, WordOf word_of) {
  const uint32_t words = p.target_stride / 4;
  const uint64_t total = p.rows * words;
  for (uint64_t at = thread_number(); at < total; at += thread_count()) {
    const uint64_t row = at / words;
    const uint32_t word = static_cast<uint32_t>(at - row * words);
    reinterpret_cast<uint32_t*>(p.target + row * p.target_stride)[word] =
        word_of(row_of(p.source, row, p.source_stride), word * kComponents);
  }
}

}  // namespace

extern "C" __global__ void convert_range(const Range p) {
  uint32_t highest = 0;
  uint32_t lowest = 0;
  uint32_t flags = 0;
  const uint64_t total = p.rows * p.dimension;
  for (uint64_t at = thread_number(); at < total; at += thread_count()) {
    const uint64_t row = at / p.dimension;
    const float value = row_of(p.source, row, p.source_stride)[at - row * p.dimension];
    flags |= range_flags(value);
    if (is_finite(value)) {
      highest = max(highest, sortable(value));
      lowest = max(lowest, ~sortable(value));
    }
  }
  highest = warp_max(highest);
  lowest = warp_max(lowest);
  flags = warp_or(flags);
  if (threadIdx.x % 32 == 0) {
    RangeResult* result = reinterpret_cast<RangeResult*>(p.result);
    atomicMax(&result->highest, highest);
    atomicMax(&result->lowest, lowest);
    atomicOr(&result->flags, flags);
  }
}

extern "C" __global__ void convert_float16(const Convert p) {
  write_words<2>(p, [&](const float* row, uint32_t d) {
    const uint32_t low = d < p.dimension ? half_bits(row[d]) : 0;
    const uint32_t high = d + 1 < p.dimension ? half_bits(row[d + 1]) : 0;
    return low | (high << 16);
  });
}

extern "C" __global__ void convert_byte(const Convert p) {
  write_words<4>(p, [&](const float* row, uint32_t d) {
    uint32_t word = 0;
    for (uint32_t i = 0; i < 4; i++) {
      if (d + i < p.dimension) {
        word |= static_cast<uint32_t>(to_byte(row[d + i], p.scale, p.offset)) << (8 * i);
      }
    }
    return word;
  });
}
