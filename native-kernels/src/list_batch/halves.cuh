// Rotated queries and centroids, less the first centroid, as pairs of halves for tensor cores: the first is the number,
// rounded, and the second what that rounds off, so that both have 22 bits of it.
#pragma once

#include <cstdint>

#include "half.cuh"
#include "vamana/order.h"

namespace vamana {

// The exponent of the largest power of two that is no more than the root of a number.
__device__ __forceinline__ int32_t root_exponent(float number) {
  return (static_cast<int32_t>(float_bits(number) >> 23) - 127) >> 1;
}

// A power of two that makes a row of this squared norm 4,096 to 8,192 long: its components are halves, and what these
// round off has few bits below the least half.
__device__ __forceinline__ float measure_scale(float norm2) {
  return bits_float(static_cast<uint32_t>(127 + 12 - root_exponent(norm2)) << 23);
}

// One over it.
__device__ __forceinline__ float measure_unscale(float norm2) {
  return bits_float(static_cast<uint32_t>(127 - 12 + root_exponent(norm2)) << 23);
}

// Writes component d of a row: the first halves of all components, then the second ones.
__device__ __forceinline__ void write_halves(uint16_t* row, uint32_t padded, uint32_t d, float number) {
  const uint16_t rounded = half_bits(number);
  row[d] = rounded;
  row[padded + d] = half_bits(number - half_value(rounded));
}

}  // namespace vamana
