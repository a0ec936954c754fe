// Exact search: the parameter of its kernels, and the order in which hits are found.
#pragma once

#include <cstddef>
#include <cstdint>

#include "vamana/order.h"
#include "vamana/platform.h"
#include "vamana/types.h"

namespace vamana {

// Parameter of all exact_* kernels; each says which fields it reads. Candidate i is row
// ordinals[i], or row i without ordinals.
struct ExactScan {
  uint64_t rows;        // row_stride bytes apart, 16-byte aligned: floats, or signed bytes
  uint64_t queries;     // query_stride bytes apart, 16-byte aligned: floats
  uint64_t accepted;    // 64-bit words, bit o of word o/64: ordinal o may be found; or 0: all
  uint64_t ordinals;    // candidates ascending int32 ordinals; or 0: all rows
  uint64_t scores;      // float exact_selected of every query and candidate, score_stride apart; or 0
  uint64_t found;       // k keys a query, ascending, kNoKey behind the last
  uint64_t joined;      // as found: what exact_join makes of found and earlier
  uint64_t earlier;     // as found
  uint64_t parts;       // k keys for every query and part
  uint64_t ticket;      // uint32, zero before the first launch; zero again after each
  uint64_t copies;      // candidates in the format of the products, copy_stride bytes apart
  uint64_t targets;     // queries in that format
  uint64_t biases;      // a float or int32 for every candidate, see exact_bound.h
  uint64_t thresholds;  // smallest product of interest, one a query, of queries up to whole tiles
  uint64_t counts;      // entries of the buffer of every query; beyond its capacity: it ran over
  uint64_t slacks;      // by how much products of a query may be off, twice
  uint64_t buffers;     // capacity ExactEntry for every query
  uint64_t facts;       // ExactFacts
  uint64_t redo;        // uint32 for every query, set if it has to be asked in another way
  uint64_t score_stride;  // candidates, a multiple of 4
  uint32_t candidates;  // at most 2^31 - 1
  uint32_t query_count;
  uint32_t dimension;   // 1 to 4,096
  uint32_t row_stride;  // bytes, a multiple of 16
  uint32_t query_stride;  // bytes, a multiple of 16
  uint32_t copy_stride;   // bytes, a multiple of kExactDepth
  uint32_t similarity;  // Similarity
  uint32_t byte_scoring;  // 1 if the vectors were indexed as bytes: their dot product scores differ
  uint32_t first_ordinal;  // of row 0
  uint32_t size;        // rows; what ordinals name beyond is not read
  uint32_t k;           // 1 to 10,000
  uint32_t capacity;    // entries of a buffer
  uint32_t first_tile;  // of a range, in the order of exact_tile
  uint32_t tile_count;
  uint32_t tiles;       // all
  uint32_t tile_step;   // coprime to tiles
  uint32_t format;      // ExactFormat of copies and targets
  float scale;          // kExactHalf: what components are multiplied by, a power of two
  uint32_t part_count;  // that exact_few_join joins
  uint64_t selected_keys;        // k of the scores of every query, best first
  uint64_t selected_candidates;  // whose they are
};

// Parameter of exact_many_*: many scans in one launch, each by some of its blocks.
struct ExactMany {
  uint64_t scans;   // ExactScan each, without scores, of at most as many queries as the kernel takes
  uint64_t blocks;  // ExactBlock of every block of the launch
  uint32_t count;   // blocks
  uint32_t reserved;
};

// The work of a block of exact_many_*.
struct ExactBlock {
  uint32_t scan;
  uint32_t part;   // of the scan
  uint32_t parts;  // of the scan, 1 to kExactParts
  uint32_t reserved;
};

// Type of the factors and sums of products.
enum ExactFormat : uint32_t {
  kExactHalf = 0,      // half precision, single precision sums
  kExactUnsigned = 1,  // bytes 0 to 255, 32-bit sums
  kExactSigned = 2,    // bytes -128 to 127, 32-bit sums
};

struct ExactEntry {
  uint32_t value;      // bits of the product
  uint32_t candidate;
};

// Facts about all vectors of a launch.
struct ExactFacts {
  uint32_t largest_norm;  // float_bits of the largest norm of a row
  uint32_t flags;         // RangeFlags
  uint32_t skipped;       // accepted rows that have no products
  uint32_t reserved;
};

static_assert(sizeof(ExactScan) == 256, "ExactScan");
static_assert(sizeof(ExactMany) == 24, "ExactMany");
static_assert(sizeof(ExactBlock) == 16, "ExactBlock");
static_assert(sizeof(ExactEntry) == 8, "ExactEntry");
static_assert(sizeof(ExactFacts) == 16, "ExactFacts");

// Rows and queries of a tile of products, and bytes of both that are multiplied at a time.
constexpr uint32_t kExactTile = 128;
constexpr uint32_t kExactDepth = 128;

// Stages of the pipeline of exact_products_*, and shared memory of each.
constexpr uint32_t kExactStages = 3;
constexpr uint32_t kExactStageBytes = 2 * kExactTile * (kExactDepth + 4);

constexpr uint32_t kExactNan = 0xFFFFFFFEu;
constexpr uint32_t kExactExcluded = 0xFFFFFFFFu;
// Most hits that exact_few keeps by itself, and partial answers that it joins.
constexpr uint32_t kExactFewHits = 128;
constexpr uint32_t kExactParts = 512;
// Shared memory of exact_few for each query, beside the query itself.
constexpr uint32_t kExactNearestBytes = 512 * 8 + 16;

// Higher scores first, NaN last; what was not accepted behind all.
VAMANA_HD uint32_t exact_order(float score) {
  return score != score ? kExactNan : ~sortable(score);
}

VAMANA_HD float exact_score(uint32_t order) {
  return order == kExactNan ? bits_float(0x7FC00000u) : unsortable(~order);
}

// Key by which selection orders vectors as hits are ordered. No score is below 0. Hits whose score is
// NaN get infinity, so they come last; excluded vectors get NaN, which is no hit.
VAMANA_HD float exact_selected(uint32_t order) {
  return order == kExactExcluded ? bits_float(0x7FC00000u)
         : order == kExactNan    ? bits_float(0x7F800000u)
                                 : -exact_score(order);
}

// Keys of hits: order, then ordinal. kNoKey is none.
VAMANA_HD uint64_t exact_key(uint32_t order, uint32_t ordinal) {
  return (static_cast<uint64_t>(order) << 32) | ordinal;
}

VAMANA_HD uint32_t exact_ordinal(const ExactScan& p, uint32_t candidate) {
  return p.first_ordinal + (p.ordinals == 0
                                ? candidate
                                : reinterpret_cast<const uint32_t*>(p.ordinals)[candidate]);
}

// The hit that was selected by exact_selected.
VAMANA_HD uint64_t exact_hit(const ExactScan& p, float key, uint32_t candidate) {
  if (key != key) {
    return kNoKey;
  }
  const uint32_t order =
      float_bits(key) == 0x7F800000u ? kExactNan : exact_order(-key);
  return exact_key(order, exact_ordinal(p, candidate));
}

// Tiles in the order in which they are searched: spread over all rows, so that the first
// tiles are a sample of the rest, however the rows are ordered.
VAMANA_HD uint32_t exact_tile(const ExactScan& p, uint32_t index) {
  return static_cast<uint32_t>(static_cast<uint64_t>(index) * p.tile_step % p.tiles);
}

// The row of a candidate; kUnusedSlot if it may not be found, or if there is no such row.
VAMANA_HD uint32_t exact_row(const ExactScan& p, uint32_t candidate) {
  uint32_t ordinal = exact_ordinal(p, candidate);
  uint32_t row = ordinal - p.first_ordinal;
  if (row >= p.size) {
    return kUnusedSlot;
  }
  if (p.accepted != 0) {
    uint64_t word = reinterpret_cast<const uint64_t*>(p.accepted)[ordinal >> 6];
    if (((word >> (ordinal & 63u)) & 1u) == 0) {
      return kUnusedSlot;
    }
  }
  return row;
}

}  // namespace vamana
