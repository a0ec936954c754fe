// What products are made from. exact_facts joins the largest norm and the flags of all rows (of
// floats) into facts; exact_rows writes copies and biases of the candidates, exact_targets copies,
// thresholds, counts and slacks of the queries, both up to whole tiles. Any number of blocks of
// whole warps.
#include <cuda_fp16.h>

#include "vamana/convert.h"
#include "vamana/exact_bound.h"

namespace {

using namespace vamana;

__device__ __forceinline__ uint32_t warp_number() {
  return (blockIdx.x * blockDim.x + threadIdx.x) / 32;
}

__device__ __forceinline__ uint32_t warp_count() { return gridDim.x * blockDim.x / 32; }

__device__ __forceinline__ float warp_total(float value) {
  for (uint32_t step = 16; step > 0; step /= 2) {
    value += __shfl_xor_sync(0xFFFFFFFFu, value, step);
  }
  return value;
}

__device__ __forceinline__ float component(const uint8_t* row, bool bytes, uint32_t d,
                                           uint32_t dimension) {
  if (d >= dimension) {
    return 0;
  }
  return bytes ? static_cast<float>(reinterpret_cast<const int8_t*>(row)[d])
               : reinterpret_cast<const float*>(row)[d];
}

__device__ __forceinline__ float norm2_of(const uint8_t* row, bool bytes, uint32_t dimension) {
  float sum = 0;
  for (uint32_t d = threadIdx.x % 32; d < dimension; d += 32) {
    const float value = component(row, bytes, d, dimension);
    sum = fmaf(value, value, sum);
  }
  return warp_total(sum);
}

// Writes a copy, four bytes a lane; a row of null is one of zeros.
__device__ __forceinline__ void write_copy(const ExactScan& p, uint32_t* target, const uint8_t* row,
                                           bool bytes, float factor) {
  for (uint32_t word = threadIdx.x % 32; word < p.copy_stride / 4; word += 32) {
    uint32_t bits = 0;
    if (row != nullptr && p.format == kExactHalf) {
      const float low = component(row, bytes, word * 2, p.dimension) * factor;
      const float high = component(row, bytes, word * 2 + 1, p.dimension) * factor;
      bits = __half_as_ushort(__float2half_rn(low)) |
             static_cast<uint32_t>(__half_as_ushort(__float2half_rn(high))) << 16;
    } else if (row != nullptr) {
      for (uint32_t i = 0; i < 4; i++) {
        const int value = static_cast<int>(component(row, bytes, word * 4 + i, p.dimension));
        bits |= (static_cast<uint32_t>(value) & 255u) << (8 * i);
      }
    }
    target[word] = bits;
  }
}

// The squared norm of a row of integers, which single precision may not hold.
__device__ __forceinline__ int32_t integer_norm2_of(const uint8_t* row, bool bytes,
                                                    uint32_t dimension) {
  int32_t sum = 0;
  for (uint32_t d = threadIdx.x % 32; d < dimension; d += 32) {
    const int32_t value = static_cast<int32_t>(component(row, bytes, d, dimension));
    sum += value * value;
  }
  return __reduce_add_sync(0xFFFFFFFFu, sum);
}

// What the components of a row are multiplied by.
__device__ __forceinline__ float factor_of(const ExactScan& p, float norm2) {
  return p.similarity == kCosine ? 1 / sqrtf(norm2) : p.scale;
}

}  // namespace

extern "C" __global__ void exact_facts(const __grid_constant__ ExactScan p) {
  uint32_t flags = 0;
  float largest = 0;
  for (uint64_t i = warp_number(); i < p.size; i += warp_count()) {
    const float* row = reinterpret_cast<const float*>(p.rows + i * p.row_stride);
    float sum = 0;
    for (uint32_t d = threadIdx.x % 32; d < p.dimension; d += 32) {
      flags |= range_flags(row[d]);
      sum = fmaf(row[d], row[d], sum);
    }
    sum = warp_total(sum);
    if (!is_finite(sum)) {
      flags |= kNotFinite;
    } else {
      largest = fmaxf(largest, sum);
    }
  }
  flags = __reduce_or_sync(0xFFFFFFFFu, flags);
  if (threadIdx.x % 32 == 0) {
    ExactFacts* facts = reinterpret_cast<ExactFacts*>(p.facts);
    // floats that are not negative are in the order of their bits
    atomicMax(&facts->largest_norm, __float_as_uint(sqrtf(largest)));
    atomicOr(&facts->flags, flags);
  }
}

extern "C" __global__ void exact_rows(const __grid_constant__ ExactScan p) {
  const bool bytes = p.byte_scoring != 0;
  uint32_t skipped = 0;
  for (uint64_t i = warp_number(); i < static_cast<uint64_t>(p.tiles) * kExactTile;
       i += warp_count()) {
    const uint32_t row = i < p.candidates ? exact_row(p, static_cast<uint32_t>(i)) : kUnusedSlot;
    const uint8_t* source = nullptr;
    float factor = 0;
    uint32_t bias = exact_barred(p.format);
    if (row != kUnusedSlot) {
      source = reinterpret_cast<const uint8_t*>(p.rows) + static_cast<uint64_t>(row) * p.row_stride;
      const float norm2 = norm2_of(source, bytes, p.dimension);
      factor = factor_of(p, norm2);
      if (is_finite(factor)) {
        bias = exact_floats(p.format)
                   ? exact_half_bias(p, norm2)
                   : exact_integer_bias(p, integer_norm2_of(source, bytes, p.dimension));
      } else {
        source = nullptr;
        skipped++;
      }
    }
    write_copy(p, reinterpret_cast<uint32_t*>(p.copies + i * p.copy_stride), source, bytes, factor);
    if (threadIdx.x % 32 == 0) {
      reinterpret_cast<uint32_t*>(p.biases)[i] = bias;
    }
  }
  if (threadIdx.x % 32 == 0 && skipped > 0) {
    atomicAdd(&reinterpret_cast<ExactFacts*>(p.facts)->skipped, skipped);
  }
}

extern "C" __global__ void exact_targets(const __grid_constant__ ExactScan p) {
  const uint32_t total = (p.query_count + kExactTile - 1) / kExactTile * kExactTile;
  const float row_norm =
      p.similarity == kCosine
          ? 1
          : __uint_as_float(reinterpret_cast<const ExactFacts*>(p.facts)->largest_norm) * p.scale;
  for (uint32_t i = warp_number(); i < total; i += warp_count()) {
    const bool asked = i < p.query_count;
    const uint8_t* source =
        asked ? reinterpret_cast<const uint8_t*>(p.queries + static_cast<uint64_t>(i) * p.query_stride)
              : nullptr;
    const float norm = asked ? sqrtf(norm2_of(source, false, p.dimension)) * p.scale : 0;
    // such a query is not fit for products: it counts as one whose buffer ran over
    const bool odd = !is_finite(norm);
    write_copy(p, reinterpret_cast<uint32_t*>(p.targets + static_cast<uint64_t>(i) * p.copy_stride),
               source, false, p.scale);
    if (threadIdx.x % 32 == 0) {
      reinterpret_cast<uint32_t*>(p.thresholds)[i] =
          asked && !odd ? exact_lowest(p.format) : exact_never(p.format);
      reinterpret_cast<uint32_t*>(p.counts)[i] = odd ? p.capacity + 1 : 0;
      reinterpret_cast<uint32_t*>(p.slacks)[i] = exact_slack(p, norm, row_norm);
    }
  }
}
