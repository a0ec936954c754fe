// Asymmetric distances (BANG, sections 4.2 and 4.5).
#pragma once

#include <cmath>
#include <cstdint>

#include "vamana/platform.h"
#include "vamana/types.h"

namespace vamana {

// First dimension of a subspace; the first dimension % subspaces of them are one longer.
VAMANA_HD uint32_t subspace_offset(uint32_t dimension, uint32_t subspaces, uint32_t subspace) {
  uint32_t remainder = dimension % subspaces;
  return subspace * (dimension / subspaces) + (subspace < remainder ? subspace : remainder);
}

// One component's part of a table entry: squared difference, or product negated.
VAMANA_HD float entry_part(bool euclidean, float entry, float q, float centroid) {
  if (euclidean) {
    float difference = q - centroid;
    return fmaf(difference, difference, entry);
  }
  return fmaf(-q, centroid, entry);
}

// By how much the entries of a subspace differ at most, centroids being within a ball.
VAMANA_HD float entry_range(bool euclidean, float query_part_norm, float centroid_norm) {
  if (euclidean && query_part_norm < centroid_norm) {
    float sum = query_part_norm + centroid_norm;
    return sum * sum;
  }
  return (euclidean ? 4 : 2) * query_part_norm * centroid_norm;
}

// The scale of a table of 16-bit entries, which are fixed-point numbers: an entry less the smallest
// of its subspace, which shifts all distances alike, times a power of two that makes the widest range
// fit. Halves have 11 bits of an entry, and spend them on what all entries have in common; these have
// 15 or 16 bits of the range, their sums are exact, and adding them up needs no conversion.
VAMANA_HD float fixed_scale(float range) {
  if (!(range > 0) || range > 3.0e38f) {
    return 1;
  }
  int exponent;
  frexpf(range, &exponent);
  int power = 16 - exponent;
  return ldexpf(1.0f, power < -100 ? -100 : power > 100 ? 100 : power);
}

VAMANA_HD uint16_t fixed_entry(float entry, float smallest, float scale) {
  float scaled = (entry - smallest) * scale;
#if defined(__CUDA_ARCH__)
  uint32_t rounded = __float2uint_rn(scaled);
  return static_cast<uint16_t>(rounded < 65535u ? rounded : 65535u);
#else
  return static_cast<uint16_t>(scaled < 65535.0f ? nearbyintf(scaled) : 65535.0f);
#endif
}

}  // namespace vamana
