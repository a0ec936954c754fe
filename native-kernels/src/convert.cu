// Conversions of vectors when a segment is uploaded; vamana/convert.h describes them.
#include "byte_dot.cuh"
#include "cta.cuh"
#include "half.cuh"
#include "vamana/bytes.h"
#include "vamana/convert.h"
#include "warp.cuh"

namespace {

using namespace vamana;

constexpr int kWarps = 8;
constexpr uint32_t kByteThreads = kWarps * 32;

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

// A block makes one row after the other, which it keeps in shared memory, since the source may be the
// host's.
extern "C" __global__ void __launch_bounds__(kByteThreads) convert_byte(const Convert p) {
  __shared__ float row[kMaxDimension];
  __shared__ uint32_t scratch[kByteThreads / 32];
  const float* center = reinterpret_cast<const float*>(p.center);
  uint32_t flags = 0;
  for (uint64_t number = blockIdx.x; number < p.rows; number += gridDim.x) {
    const float* source = row_of(p.source, number, p.source_stride);
    float largest = 0;
    for (uint32_t d = threadIdx.x; d < p.dimension; d += kByteThreads) {
      row[d] = source[d];
      largest = fmaxf(largest, fabsf(row[d]));
    }
    float factor = 1;
    if (p.unit != 0) {
      // by the largest component first, so that no square is too large or too small
      largest = cta_max<kWarps>(largest, scratch);
      float squares = 0;
      for (uint32_t d = threadIdx.x; d < p.dimension; d += kByteThreads) {
        const float part = unit_part(row[d], largest);
        squares = fmaf(part, part, squares);
        row[d] = part;
      }
      squares = cta_sum<kWarps>(squares, scratch);
      factor = unit_factor(squares);
    }
    largest = 0;
    uint32_t rounded = 0;
    for (uint32_t d = threadIdx.x; d < p.dimension; d += kByteThreads) {
      const float value = fmaf(row[d], factor, -center[d]);
      flags |= is_finite(value) ? 0u : kNotFinite;
      rounded |= is_whole(value) ? 0u : 1u;
      largest = fmaxf(largest, fabsf(value));
      row[d] = value;
    }
    largest = cta_max<kWarps>(largest, scratch);
    // barriers for what other threads read below, too
    rounded = __syncthreads_or(rounded) != 0 ? 1u : 0u;
    const float step = rounded != 0 ? copy_step(largest) : 1;
    flags |= rounded != 0 ? kRounded : 0u;
    int32_t squares = 0;
    uint32_t* target = reinterpret_cast<uint32_t*>(p.target + number * p.target_stride);
    for (uint32_t word = threadIdx.x; word < p.target_stride / 4; word += kByteThreads) {
      uint32_t bytes = 0;
      for (uint32_t i = 0; i < 4; i++) {
        const uint32_t d = word * 4 + i;
        const int32_t byte = d < p.dimension ? copy_byte(row[d], step) : 0;
        bytes |= (static_cast<uint32_t>(byte) & 255u) << (8 * i);
      }
      squares = dot_bytes(bytes, bytes, squares);
      target[word] = bytes;
    }
    squares = static_cast<int32_t>(cta_sum<kWarps>(static_cast<uint32_t>(squares), scratch));
    if (threadIdx.x == 0) {
      reinterpret_cast<ByteFacts*>(p.facts)[number] = copy_facts(step, squares);
    }
  }
  flags = warp_or(flags);
  if (threadIdx.x % 32 == 0 && flags != 0) {
    atomicOr(&reinterpret_cast<RangeResult*>(p.result)->flags, flags);
  }
}
