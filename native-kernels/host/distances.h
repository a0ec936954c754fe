// Distances as the kernels add them up: in the order of their lanes, so that results are equal to
// the last bit.
#pragma once

#include <cstdint>
#include <vector>

#include "vamana/score.h"
#include "vamana/types.h"

namespace vamana {

// Rows of vectors, see src/exact.cuh.
struct HostRows {
  uint64_t base;
  uint32_t stride;
  uint32_t dimension;
  uint32_t format;  // VectorFormat
  float scale;
  float offset;
  uint32_t flip;
  bool aligned;
};

// The query's components as floats.
std::vector<float> query_of(const Segment& segment, const Item& item);

// Squared norm as a block of so many warps adds it up.
float query_norm2(const std::vector<float>& query, uint32_t warps);

// What exact walks read.
HostRows vector_rows(const Segment& segment, uint32_t format);

// What re-ranking reads.
HostRows raw_rows(const Segment& segment);

// Sums over the components of a row and a query of floats.
Sums exact_sums(const HostRows& rows, bool euclidean, const float* query, uint32_t ordinal);

// The exact score, negated.
float exact_distance(const Segment& segment, const HostRows& rows, const float* query,
                     float query_norm2, uint32_t ordinal);

// The distance table of a query, subspaces * 256 entries; those of halves are scaled and rounded.
std::vector<float> distance_table(const Segment& segment, std::vector<float> query, float norm2,
                                  bool fixed);

// Sum of the entries that a code names.
float code_sum(const float* table, const uint8_t* code, uint32_t subspaces);

}  // namespace vamana
