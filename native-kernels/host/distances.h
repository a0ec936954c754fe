// Distances as the kernels add them up: in the order of their lanes, so that results are equal to
// the last bit.
#pragma once

#include <cstdint>
#include <vector>

#include "vamana/bytes.h"
#include "vamana/score.h"
#include "vamana/types.h"

namespace vamana {

// Rows of vectors, see src/exact.cuh.
struct HostRows {
  uint64_t base;
  uint32_t stride;
  uint32_t dimension;
  uint32_t format;  // VectorFormat
  uint64_t facts;   // ByteFacts of copies in bytes, or 0
  bool aligned;
};

struct HostQuery {
  std::vector<float> floats;
  float norm2 = 0;     // as a block adds it up
  int32_t squares = 0;  // the same of a query of bytes, without rounding
  // bytes of the query; two for a component where vectors are copies in bytes
  std::vector<int8_t> high;
  std::vector<int8_t> low;
  ByteQuery copies = {};
  bool whole = false;  // as whole as the segment's copies, so that their distances are exact
};

// The query of an item, for a block of so many warps, of which each thread takes so many neighbouring
// components in turn.
HostQuery query_of(const Segment& segment, const Item& item, uint32_t warps, uint32_t neighbours);

// Squared norm as a block of so many warps adds it up, a component a thread.
float query_norm2(const std::vector<float>& query, uint32_t warps);

// Rows that exact walks read.
HostRows vector_rows(const Segment& segment, uint32_t format);

// Rows that re-ranking reads.
HostRows raw_rows(const Segment& segment);

// Sums over the components of a row of floats and a query of floats.
Sums float_sums(const HostRows& rows, bool euclidean, const float* query, uint32_t ordinal);

// The score, negated: exact, but of copies.
float exact_distance(const Segment& segment, const HostRows& rows, const HostQuery& query,
                     uint32_t ordinal);

// The distance table of a query, subspaces * 256 entries; entries of 16 bits are scaled and rounded.
std::vector<float> distance_table(const Segment& segment, std::vector<float> query, float norm2,
                                  bool fixed);

// Entries of a table, and for fixed ones their scale and the sum of each subspace's smallest.
struct HostTable {
  std::vector<float> entries;
  float scale = 1;
  float smallest = 0;
};

// The table of squared differences or of negated products of a query that is as the codebook's vectors are.
HostTable table_of(const Segment& segment, bool euclidean, const std::vector<float>& query,
                   bool fixed);

// Sum of the entries that a code names.
float code_sum(const float* table, const uint8_t* code, uint32_t subspaces);

}  // namespace vamana
