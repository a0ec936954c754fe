// Lucene's scores from what a kernel adds up over the components.
#pragma once

#include <cmath>
#include <cstdint>

#include "vamana/platform.h"
#include "vamana/types.h"

namespace vamana {

// Sums over the components of a query q and a vector x of floats. Sums of bytes are two integers, as
// bits: q.x and |x|^2; copy_sums (vamana/bytes.h) converts the sums of copies in bytes.
struct Sums {
  float first;   // |q - x|^2 for kEuclidean, otherwise q.x
  float second;  // |x|^2, used by kCosine
};

VAMANA_HD void accumulate(Sums& sums, bool euclidean, float q, float x) {
  if (euclidean) {
    float difference = q - x;
    sums.first = fmaf(difference, difference, sums.first);
  } else {
    sums.first = fmaf(q, x, sums.first);
    sums.second = fmaf(x, x, sums.second);
  }
}

// Not fmaxf, which would turn the NaN of a zero vector's cosine into a score.
VAMANA_HD float unit_interval(float value) {
  float half = (1 + value) / 2;
  return half < 0 ? 0 : half;
}

// VectorSimilarityFunction.compare of float vectors.
VAMANA_HD float score_of(uint32_t similarity, Sums sums, float query_norm2) {
  switch (similarity) {
    case kEuclidean:
      return 1 / (1 + sums.first);
    case kDotProduct:
      return unit_interval(sums.first);
    case kCosine:
      return unit_interval(sums.first / sqrtf(query_norm2 * sums.second));
    default:
      return sums.first < 0 ? 1 / (1 - sums.first) : sums.first + 1;
  }
}

}  // namespace vamana
