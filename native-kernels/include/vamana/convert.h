// Copies of float vectors in smaller formats, and what has to be known to choose one. The kernels
// are convert_range, convert_float16 and convert_byte; each takes its struct by value and works
// with any number of blocks and threads.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "vamana/order.h"
#include "vamana/platform.h"

namespace vamana {

// Parameter of convert_range: joins the components of some rows into a RangeResult. Several
// launches may share a result, so that vectors can be looked at while they are uploaded.
struct Range {
  uint64_t source;         // rows of source_stride bytes that begin with dimension floats
  uint64_t result;         // a RangeResult, all zero before the first launch
  uint64_t rows;
  uint32_t dimension;
  uint32_t source_stride;  // bytes, a multiple of 4
};

enum RangeFlags : uint32_t {
  kFractions = 1,  // a component is not one of the integers 0 to 255
  kNotFinite = 2,  // a component is infinite or not a number; it does not count in the range
};

// Zero means that nothing has been seen, so that a result is cleared by filling it with zeros.
struct RangeResult {
  uint32_t highest;  // sortable() of the largest component, or 0
  uint32_t lowest;   // complement of sortable() of the smallest component, or 0
  uint32_t flags;    // RangeFlags
  uint32_t reserved;
};

// Parameter of convert_float16 and convert_byte. Bytes of a target row beyond its components are
// set to zero.
struct Convert {
  uint64_t source;         // rows of source_stride bytes that begin with dimension floats
  uint64_t target;         // rows of target_stride bytes, 16-byte aligned
  uint64_t rows;
  uint32_t dimension;
  uint32_t source_stride;  // bytes, a multiple of 4
  uint32_t target_stride;  // bytes, a multiple of 16
  float scale;             // convert_byte: a byte b stands for scale * b + offset; above 0
  float offset;
  uint32_t reserved;
};

static_assert(sizeof(Range) == 32, "Range");
static_assert(sizeof(RangeResult) == 16, "RangeResult");
static_assert(sizeof(Convert) == 48, "Convert");

VAMANA_HD bool is_finite(float value) { return (float_bits(value) & 0x7F800000u) != 0x7F800000u; }

VAMANA_HD uint32_t range_flags(float value) {
  if (!is_finite(value)) {
    return kNotFinite | kFractions;
  }
  return value >= 0 && value <= 255 && value == truncf(value) ? 0u : kFractions;
}

// The byte that stands for a component: rounded to nearest, ties to even, and clamped.
VAMANA_HD uint8_t to_byte(float value, float scale, float offset) {
  float steps = rintf((value - offset) / scale);
  return static_cast<uint8_t>(fminf(fmaxf(steps, 0.0f), 255.0f));
}

}  // namespace vamana
