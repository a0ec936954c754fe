// Vectors of signed bytes: a segment's own, whose sums are integers, and copies of float vectors.
//
// A copy of a vector x has one step t, and a component of it is center[d] + t * b[d]. So a component
// that is far from all others costs its own vector resolution, and no other. What a walk compares is
// made of q.b, which is a dot product of bytes too: the query is the sum of two vectors of bytes,
// query_step * (256 * high + low). docs/internals/gpu-kernels.md tells what that is worth.
//
// The copies of a segment are whole if each has the step 1 and loses nothing, as with pixels and SIFT
// descriptors. Between such copies and a query that is as whole, squared distances are integers
// and exact, so that a walk needs no re-ranking.
#pragma once

#include <cmath>
#include <cstdint>

#include "vamana/order.h"
#include "vamana/platform.h"
#include "vamana/score.h"
#include "vamana/types.h"

namespace vamana {

// Of a copy: what Segment.vector_facts holds for each vector.
struct ByteFacts {
  float step;   // of a component, above 0
  float norm2;  // |t * b|^2
};

// Most that a copy's component and a query's are from 0.
constexpr float kByteSteps = 127;
constexpr float kQuerySteps = 32639;  // 256 * 127 + 127
constexpr float kLeastSteps = -32768;  // 256 * -128

// VectorSimilarityFunction.compare of byte vectors from dot products: q.x, x.x and q.q. Below 2^31
// for up to 4,096 components. Lucene divides by norms in double precision.
VAMANA_HD float byte_score(uint32_t similarity, uint32_t dimension, int32_t product, int32_t norm2,
                           int32_t query_norm2) {
  switch (similarity) {
    case kEuclidean:
      return 1 / (1 + static_cast<float>(query_norm2 + norm2 - 2 * product));
    case kDotProduct:
      return 0.5f + static_cast<float>(product) / static_cast<float>(dimension * 32768u);
    case kCosine:
      return (1 + static_cast<float>(static_cast<double>(product) /
                                     sqrt(static_cast<double>(query_norm2) *
                                          static_cast<double>(norm2)))) /
             2;
    default:
      return product < 0 ? 1 / (1 - static_cast<float>(product)) : static_cast<float>(product) + 1;
  }
}

// A power of two, so that a query of integers is represented exactly: the smallest with which no
// component is more than kQuerySteps from 0.
VAMANA_HD float query_step(float largest) {
  if (!(largest > 0) || (float_bits(largest) & 0x7F800000u) == 0x7F800000u) {
    return 1;
  }
  const uint32_t bits = float_bits(largest / kQuerySteps);
  return bits_float((bits + 0x7FFFFFu) & 0x7F800000u);
}

// 256 * high + low, where both are signed bytes.
VAMANA_HD int32_t query_steps(float component, float step) {
  const float steps = rintf(component / step);
  return static_cast<int32_t>(fminf(fmaxf(steps, kLeastSteps), kQuerySteps));
}

VAMANA_HD int32_t high_byte(int32_t steps) { return (steps + 128) >> 8; }

VAMANA_HD int32_t low_byte(int32_t steps) { return steps - 256 * high_byte(steps); }

// Terms of a query that turn sums of copies into distances: distance or product = base + factor * (q.b * t) (+ norm2
// of the copy for kEuclidean).
struct ByteQuery {
  float base;
  float factor;
};

// From the step of the query, from |q - center|^2 for kEuclidean, otherwise q.center, and from |q|^2.
VAMANA_HD ByteQuery byte_query(uint32_t similarity, float step, float base, float norm2) {
  switch (similarity) {
    case kEuclidean:
      return {base, -2 * step};
    case kCosine: {
      const float inverse = 1 / sqrtf(norm2);
      return {base * inverse, step * inverse};
    }
    default:
      return {base, step};
  }
}

// Sums of a copy: q.b * t in steps of the query, and its norm2.
VAMANA_HD Sums copy_sums(int32_t high, int32_t low, ByteFacts facts) {
  return {facts.step * fmaf(256.0f, static_cast<float>(high), static_cast<float>(low)),
          facts.norm2};
}

// Lucene's score of a copy of a float vector. Copies for kCosine are of vectors of length 1.
VAMANA_HD float copy_score(uint32_t similarity, Sums sums, ByteQuery query) {
  const float value = fmaf(query.factor, sums.first, query.base);
  switch (similarity) {
    case kEuclidean: {
      // not fmaxf, which would turn NaN into the smallest distance
      const float distance = value + sums.second;
      return 1 / (1 + (distance < 0 ? 0 : distance));
    }
    case kMaximumInnerProduct:
      return value < 0 ? 1 / (1 - value) : value + 1;
    default:
      return unit_interval(value);
  }
}

// A component in terms of the row's largest, and by what such are multiplied for a row of length 1; a row of
// zeros stays one.
VAMANA_HD float unit_part(float component, float largest) {
  return largest > 0 ? component / largest : component;
}

VAMANA_HD float unit_factor(float squares) { return squares > 0 ? 1 / sqrtf(squares) : 1; }

// Whether a component less its center is one of the integers that bytes hold without rounding.
VAMANA_HD bool is_whole(float value) {
  return value >= -128 && value <= 127 && value == rintf(value);
}

// Most components of whole copies, so that |b|^2 fits a float without rounding: 1024 * 128^2 = 2^24.
constexpr uint32_t kWholeDimension = 1024;

// Adding it leaves the integer that a whole number is in the lowest byte.
constexpr float kWholeShift = 12582912;  // 1.5 * 2^23

// The step of a copy whose components are this far from the center at most.
VAMANA_HD float copy_step(float largest) { return fmaxf(largest / kByteSteps, 1.0e-37f); }

VAMANA_HD int32_t copy_byte(float value, float step) {
  const float steps = rintf(value / step);
  return static_cast<int32_t>(fminf(fmaxf(steps, -128.0f), kByteSteps));
}

VAMANA_HD ByteFacts copy_facts(float step, int32_t squares) {
  return {step, step * step * static_cast<float>(squares)};
}

static_assert(sizeof(ByteFacts) == 8, "ByteFacts");

}  // namespace vamana
