// Copies of float vectors in smaller formats, and what has to be known to choose one. The kernels
// are convert_range, convert_float16 and convert_byte; each takes its struct by value and works
// with any number of blocks and threads, but convert_byte has 256 threads.
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
  kRounded = 4,    // a copy in bytes is not the vector itself
};

// Zero means that nothing has been seen, so that a result is cleared by filling it with zeros.
struct RangeResult {
  uint32_t highest;  // sortable() of the largest component, or 0
  uint32_t lowest;   // complement of sortable() of the smallest component, or 0
  uint32_t flags;    // RangeFlags
  uint32_t reserved;
};

// Parameter of convert_float16 and convert_byte. Bytes of a target row beyond its components are
// set to zero. The last four are convert_byte's; vamana/bytes.h describes its copies.
struct Convert {
  uint64_t source;         // rows of source_stride bytes that begin with dimension floats
  uint64_t target;         // rows of target_stride bytes, 16-byte aligned
  uint64_t rows;
  uint32_t dimension;      // at most kMaxDimension
  uint32_t source_stride;  // bytes, a multiple of 4
  uint32_t target_stride;  // bytes, a multiple of 16
  uint32_t unit;           // 1: rows are made of length 1 first
  uint64_t center;         // dimension floats, which components are less
  uint64_t facts;          // ByteFacts of each row
  uint64_t result;         // a RangeResult, of which flags alone are set, to kNotFinite and kRounded
};

static_assert(sizeof(Range) == 32, "Range");
static_assert(sizeof(RangeResult) == 16, "RangeResult");
static_assert(sizeof(Convert) == 64, "Convert");

VAMANA_HD bool is_finite(float value) { return (float_bits(value) & 0x7F800000u) != 0x7F800000u; }

VAMANA_HD uint32_t range_flags(float value) {
  if (!is_finite(value)) {
    return kNotFinite | kFractions;
  }
  return value >= 0 && value <= 255 && value == truncf(value) ? 0u : kFractions;
}

}  // namespace vamana
