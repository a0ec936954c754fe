// Inverted lists on a device: what the host hands to the kernel, and the arithmetic of their search, which
// dev.vamana.ivf and dev.vamana.search.ListSearch have for the CPU. docs/internals/ivf-gpu.md has the design.
#pragma once

#include <cmath>
#include <cstdint>

#include "vamana/order.h"
#include "vamana/platform.h"
#include "vamana/types.h"

namespace vamana {

// dev.vamana.ivf.Estimates, by ordinal.
enum Estimates : uint32_t {
  kEstimateEuclidean = 0,
  kEstimateCosine = 1,
  kEstimateUnitProduct = 2,
  kEstimateByteProduct = 3,
  kEstimateMaximumProduct = 4,
};

constexpr uint32_t kListsOffset = 256;      // from a Segment to its Lists
constexpr uint32_t kListBlock = 256;        // heads that lie together by columns
constexpr uint32_t kListGroup = 8;          // places of a list are a multiple of this
constexpr uint32_t kListNumberBytes = 16;   // ordinal, constant, factor and error of an entry
constexpr uint32_t kListPlanes = 4;         // bits of a query's component for heads, with its sign
constexpr uint32_t kListMorePlanes = 8;     // the same for tails
constexpr uint32_t kListScored = 16;        // vectors that are scored before the limit is looked at again
constexpr uint32_t kListCandidates = 256;   // candidates of a list that a block has room for
constexpr uint32_t kListWave = 16;          // most pieces of a wave that one block searches at once
constexpr uint32_t kWaveCandidates = 1024;  // candidates of a wave that a block has room for
constexpr uint32_t kListsOfGroup = 64;      // lists whose nearest is kept while lists are taken in waves
constexpr uint32_t kMaxLists = 65536;
constexpr uint32_t kQuantizedBits = 8;      // Lists.bits of product quantization: a byte for each subspace

// How a kernel estimates, which the codes of its lists decide, and for product quantization the room that there
// is for the query's table.
enum ListCodes : uint32_t {
  kListBits = 0,         // RaBitQ codes
  kListTable = 1,        // product quantization: a table of 16-bit entries in shared memory
  kListTableGlobal = 2,  // the same, a table of floats in the block's scratch
};

// Facts about a list, from the file.
struct ListFacts {
  uint32_t count;   // vectors
  float radius;     // root of their mean squared distance to the centroid
  float norm2;      // of the centroid
  uint32_t reserved;
};

// The lists of a segment; kListsOffset bytes behind its Segment.
struct Lists {
  uint64_t centroids;  // lists rows of padded floats, rotated, 16-byte aligned
  uint64_t facts;      // lists ListFacts
  uint64_t starts;     // for each list the number of groups of places before it, 32 bits
  uint64_t numbers;    // for each ordinal the number of its list, 16 bits
  uint64_t entries;    // the first list: heads by columns, then tails; 8-byte aligned
  uint64_t signs;      // rounds rows of padded floats: signs of the rotation, times its factor; or 0
  uint32_t lists;      // 1 to 65,536
  uint32_t padded;     // components of a rotated vector, a multiple of 64
  uint32_t bits;       // of a component of a code: 1, 2, 4 or 7; or kQuantizedBits
  uint32_t rounds;     // of the rotation; 0 of product quantization, which rotates nothing
  uint32_t transformed;  // components that a round transforms, a power of two
  uint32_t estimates;  // Estimates
  float spread;        // root of the mean squared cosine of a query and a member, 0 to 1
  float quantile;      // of product quantization: what part of error and residual an estimate may be too large
  uint32_t head_bytes;  // of an entry
  uint32_t tail_bytes;  // the same; 0 if entries have none
};

// Parameter of the kernels that search lists, by value. Items are the same as for walks. The beam is the
// number of hits whose distances decide when a search ends; entry points and parents are ignored.
struct ListSearch {
  uint64_t items;           // as Walk.items
  uint64_t counter;         // as Walk.counter
  uint64_t scratch;         // scratch_stride bytes for each block
  uint64_t scratch_stride;
  uint32_t count;
  uint32_t width;           // largest beam of the items
  uint32_t lists;           // most lists of the items
  uint32_t padded;          // largest of the items
  uint32_t dimension;       // largest of the items
  uint32_t subspaces;       // largest of the items; 0 without product quantization
  uint32_t flags;           // kSideBySide
  uint32_t team;            // blocks that search one item, in waves; 0 and 1: one. With more, count * team blocks
  uint64_t teams;           // with several blocks for one item: a ListTeam for each item, all zero; or 0
};

static_assert(sizeof(ListFacts) == 16, "ListFacts");
static_assert(sizeof(Lists) == 88, "Lists");
static_assert(sizeof(ListSearch) == 72, "ListSearch");

// Address of an item of a launch.
VAMANA_HD uint64_t item_address(const ListSearch& search, uint32_t item) {
  return item_address(search.items, search.flags, item);
}

// Standard deviations by which an error is taken to make an estimate too large.
constexpr float kListMargin = 1.9f;
// Standard deviations by which vectors are taken to be nearer than their centroid.
constexpr float kListReach = 2.0f;
// Error that the rounding of a query adds, relative to the error of a code of one bit.
constexpr float kListRounding = 1.25f / 0.75f;
// For rounding, of the constant parts of an estimate.
constexpr float kListSlack = 1e-5f;

VAMANA_HD bool list_products(uint32_t estimates) { return estimates >= kEstimateUnitProduct; }

VAMANA_HD float infinite() { return bits_float(0x7F800000u); }

// Estimates.distance: the distance of a score.
VAMANA_HD float list_distance(uint32_t estimates, float score, uint32_t dimension) {
  switch (estimates) {
    case kEstimateEuclidean:
      return score <= 0 ? infinite() : 1 / score - 1;
    case kEstimateCosine:
      return 4 * (1 - score);
    case kEstimateUnitProduct:
      return 1 - 2 * score;
    case kEstimateByteProduct:
      return (0.5f - score) * static_cast<float>(dimension) * 32768.0f;
    default:
      return score <= 0 ? infinite() : score >= 1 ? 1 - score : 1 / score - 1;
  }
}

// Distance of the query to a centroid, from their squared Euclidean one and both squared norms.
VAMANA_HD float list_base(uint32_t estimates, float squares, float query_norm2, float norm2) {
  return list_products(estimates) ? -(norm2 + query_norm2 - squares) / 2 : squares;
}

// Square roots, to the last bit.
struct ExactRoot {
  VAMANA_HD float operator()(float value) const { return sqrtf(value); }
};

// A distance that few vectors of a list are nearer than, by which lists are ordered.
template <class Root>
VAMANA_HD float list_optimistic(const Lists& lists, const ListFacts& facts, float squares,
                                float query_norm2, Root root) {
  const float reach = kListReach * lists.spread * facts.radius;
  if (lists.estimates == kEstimateMaximumProduct || lists.estimates == kEstimateByteProduct) {
    return list_base(lists.estimates, squares, query_norm2, facts.norm2) -
           reach * root(query_norm2);
  }
  const float square = squares + facts.radius * facts.radius - 2 * reach * root(squares);
  return lists.estimates == kEstimateUnitProduct ? (square - query_norm2 - 1) / 2 : square;
}

// A list's place in the order; kUnusedSlot for one that is empty.
template <class Root = ExactRoot>
VAMANA_HD uint32_t list_key(const Lists& lists, const ListFacts& facts, float squares,
                            float query_norm2, Root root = {}) {
  return facts.count == 0 ? kUnusedSlot
                          : sortable(list_optimistic(lists, facts, squares, query_norm2, root));
}

// Scale that turns components of a residual into whole numbers of so many bits.
struct ListStep {
  float step;
  float scale;
};

VAMANA_HD ListStep list_step(float largest, uint32_t planes) {
  const float most = static_cast<float>((1 << (planes - 1)) - 1);
  return {largest / most, largest == 0 ? 0 : most / largest};
}

// Conversions round to 0, so the offset makes this the nearest number.
VAMANA_HD int32_t list_round(float component, float scale) {
  return static_cast<int32_t>(component * scale + 128.5f) - 128;
}

// Times the error of an entry: by how much its estimate from the head may be too large.
VAMANA_HD float list_margin(float step, float squares, uint32_t padded) {
  const float length = sqrtf(squares);
  if (length == 0) {
    return 0;
  }
  const float rounding =
      step * sqrtf(static_cast<float>(padded) / 12.0f) * kListRounding / length;
  return kListMargin * length * sqrtf(1 + rounding * rounding);
}

VAMANA_HD float magnitude(float value) { return value < 0 ? -value : value; }

struct ListEstimate {
  float distance;
  float bound;  // a distance that the vector very probably has at least
};

// The query's residual to a list, for heads.
struct ListHeads {
  float base;
  float step;
  float half;    // of the sum of the numbers
  float margin;
};

// The table of a query, for product quantization: an entry is `step` times the stored one, and `smallest` the
// sum of what was taken off the entries of each subspace. `rounding` times the factor of an entry is how wrong
// the sum of stored ones may be.
struct ListTable {
  float step;
  float smallest;
  float rounding;
};

// A stored entry is wrong by a part of its step, so a sum by step * sqrt(subspaces / 12).
VAMANA_HD ListTable list_table(float scale, float smallest, uint32_t subspaces) {
  const float step = 1 / scale;
  return {step, smallest, kListMargin * step * sqrtf(static_cast<float>(subspaces) / 12.0f)};
}

// A table whose entries are stored as they are.
VAMANA_HD ListTable whole_table() { return {1, 0, 0}; }

// From a head; `product` is the inner product of the query's numbers and the bits.
VAMANA_HD ListEstimate list_estimate(const ListHeads& heads, int32_t product, float constant,
                                     float factor, float error) {
  const float distance = heads.base + constant +
                         factor * heads.step * (static_cast<float>(product) - heads.half);
  return {distance, distance - error * heads.margin -
                        (kListSlack * magnitude(heads.base) + kListSlack * magnitude(constant))};
}

// From a head of product quantization; `sum` is the sum of the table's stored entries.
VAMANA_HD ListEstimate list_quantized(const ListHeads& heads, const ListTable& table, float sum,
                                      float constant, float factor, float error) {
  const float product = factor * (table.smallest + table.step * sum);
  const float distance = heads.base + constant - product;
  const float slack =
      kListSlack * magnitude(heads.base) + kListSlack * (magnitude(constant) + magnitude(product));
  return {distance,
          distance - error * heads.margin - magnitude(factor) * table.rounding - slack};
}

// From a tail; `numbers` is the inner product of the query's numbers, whose sum is `sum`, and the code's.
VAMANA_HD ListEstimate list_refined(float base, float step, int32_t sum, float length,
                                    uint32_t padded, uint32_t bits, int32_t numbers, float constant,
                                    float factor, float error) {
  const float product = step * (static_cast<float>(numbers) + static_cast<float>(sum) * 0.5f);
  const float distance = base + constant + factor * product;
  const float rounding = factor * step * sqrtf(static_cast<float>(padded) / 144.0f) *
                         static_cast<float>(1u << bits);
  const float own = error * kListMargin * length;
  return {distance, distance -
                        sqrtf(own * own + kListMargin * kListMargin * rounding * rounding) -
                        kListSlack * (magnitude(base) + magnitude(constant))};
}

// Number of lists that are always searched, and number of lists of a window that the rate leaves out.
constexpr uint32_t kListProbes = 4;
constexpr uint32_t kListUnrated = 3;

// First list of the window, which has the lists searched last.
VAMANA_HD uint32_t list_window(uint32_t probed) {
  return static_cast<uint32_t>(probed * (1 - 0.7));
}

// Most hits that the lists of the window may have brought where the search ends.
VAMANA_HD uint32_t list_late(uint32_t probed, uint32_t width) {
  const double few = 0.01 * width;
  const double rated =
      0.04 * (static_cast<double>(probed - list_window(probed)) - static_cast<double>(kListUnrated));
  return static_cast<uint32_t>(few > rated ? few : rated);
}

// Whether the lists of the window have brought so few hits that the search ends.
VAMANA_HD bool list_ends(uint32_t probed, uint32_t late, uint32_t width) {
  return late <= list_late(probed, width);
}

VAMANA_HD uint32_t list_places(uint32_t count) {
  return (count + kListGroup - 1) / kListGroup * kListGroup;
}

// Address of a list.
VAMANA_HD uint64_t list_address(const Lists& lists, uint32_t list) {
  const uint64_t places =
      uint64_t{reinterpret_cast<const uint32_t*>(lists.starts)[list]} * kListGroup;
  return lists.entries + places * (lists.head_bytes + lists.tail_bytes);
}

// Where the entries of a block of heads lie.
struct ListColumns {
  const uint32_t* numbers;  // ordinals, constants, factors, errors; `together` of each
  const uint32_t* words;    // halves of 64-bit words; `together` pairs for each
  uint32_t together;
};

VAMANA_HD ListColumns list_columns(const Lists& lists, uint64_t list, uint32_t places,
                                   uint32_t first) {
  const uint32_t left = places - first;
  const uint32_t together = left < kListBlock ? left : kListBlock;
  const uint64_t at = list + uint64_t{first} * lists.head_bytes;
  return {reinterpret_cast<const uint32_t*>(at),
          reinterpret_cast<const uint32_t*>(at + uint64_t{kListNumberBytes} * together), together};
}

}  // namespace vamana
