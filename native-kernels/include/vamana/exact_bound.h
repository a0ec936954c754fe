// Products in few bits, and by how much they may be off; docs/internals/exact-search.md derives the bounds.
//
// The compared value, larger is better: q.x - |x|^2 / 2 for kEuclidean, q.x/|x| for kCosine, q.x for
// the others; q and x times ExactScan.scale in half precision.
#pragma once

#include <cmath>
#include <cstdint>

#include "vamana/exact_scan.h"
#include "vamana/order.h"
#include "vamana/platform.h"

namespace vamana {

// Of sums in half precision and of sums of integers: what every sum reaches, and what none does.
constexpr int32_t kExactLowest = -(1 << 29);
constexpr int32_t kExactNever = 0x7FFFFFFF;
// Biases of rows that must not be found.
constexpr int32_t kExactBarred = -(1 << 30);

VAMANA_HD bool exact_floats(uint32_t format) { return format == kExactHalf; }

VAMANA_HD uint32_t exact_lowest(uint32_t format) {
  return exact_floats(format) ? 0xFF7FFFFFu : static_cast<uint32_t>(kExactLowest);
}

VAMANA_HD uint32_t exact_never(uint32_t format) {
  return exact_floats(format) ? 0x7F800000u : static_cast<uint32_t>(kExactNever);
}

VAMANA_HD uint32_t exact_barred(uint32_t format) {
  return exact_floats(format) ? 0xFF800000u : static_cast<uint32_t>(kExactBarred);
}

// The bias of a row of this squared norm.
VAMANA_HD uint32_t exact_half_bias(const ExactScan& p, float norm2) {
  return p.similarity == kEuclidean ? float_bits(-0.5f * (p.scale * p.scale * norm2)) : 0u;
}

VAMANA_HD uint32_t exact_integer_bias(const ExactScan& p, int32_t norm2) {
  // rounded down where the norm is odd, which is what the slack of integers is for
  return p.similarity == kEuclidean ? static_cast<uint32_t>(-((norm2 + 1) / 2)) : 0u;
}

// Twice the error of the products of a query of this scaled norm with rows of at most this one.
VAMANA_HD uint32_t exact_slack(const ExactScan& p, float query_norm, float row_norm) {
  if (!exact_floats(p.format)) {
    return p.similarity == kEuclidean ? 1u : 0u;
  }
  const float dimension = static_cast<float>(p.dimension);
  const float magnitude = query_norm * row_norm;
  const float half = row_norm * row_norm / 2;
  // 2^-10 for two roundings to 11 bits, and what dividing by norms adds; 2^-25 for each component
  // below the smallest normal half
  const float rounding = 1.0e-3f * magnitude + 6.1e-8f * sqrtf(dimension);
  // 2^-18 for each of the sums of 16 products
  const float adding = (dimension / 16 + 2) * 3.82e-6f * (magnitude + half);
  return float_bits(2 * (rounding + adding));
}

// Unsigned integers, smaller for larger sums.
VAMANA_HD uint32_t exact_rank(uint32_t format, uint32_t sum) {
  return exact_floats(format) ? ~sortable(bits_float(sum)) : ~(sum ^ 0x80000000u);
}

// The smallest sum that may belong to something better than this one.
VAMANA_HD uint32_t exact_threshold(uint32_t format, uint32_t sum, uint32_t slack) {
  if (exact_floats(format)) {
    return float_bits(bits_float(sum) - bits_float(slack));
  }
  return sum - slack;
}

}  // namespace vamana
