// Structs that the host passes to kernels. Little endian, natural alignment, no unnamed padding.
// The Java side writes the same bytes (package dev.vamana.cuda.kernel); tests compare offsets and
// sizes through the host library.
#pragma once

#include <cstddef>
#include <cstdint>

#include "vamana/platform.h"

namespace vamana {

// Lucene's VectorSimilarityFunction, by ordinal.
enum Similarity : uint32_t {
  kEuclidean = 0,
  kDotProduct = 1,
  kCosine = 2,
  kMaximumInnerProduct = 3,
};

// How a row of vectors is stored.
enum VectorFormat : uint32_t {
  kFloat32 = 0,
  kFloat16 = 1,
  // signed bytes: vectors of bytes as they are, or copies of float vectors, see vamana/bytes.h
  kByte = 2,
};

constexpr uint32_t kUnusedSlot = 0xFFFFFFFFu;
constexpr uint32_t kCentroids = 256;
constexpr uint32_t kMaxDegree = 128;
constexpr uint32_t kMaxSubspaces = 256;
constexpr uint32_t kMaxDimension = 4096;
constexpr uint32_t kMaxBeamWidth = 10000;
constexpr uint32_t kMaxParents = 64;

// A resident segment; lives in device memory as long as the segment is resident.
struct Segment {
  uint64_t graph;           // size rows of graph_stride int32 ordinals, 16-byte aligned; device or mapped
  uint64_t vectors;         // what exact walks read: size rows of vector_stride bytes, 16-byte aligned; or 0
  uint64_t raw;             // what re-ranking reads: size rows of raw_stride bytes; or 0: re-ranked by the caller
  uint64_t codes;           // size rows of code_stride bytes, 16-byte aligned; or 0
  uint64_t columns;         // codebook by columns: component d of centroid c at d * 256 + c; floats; or 0
  uint64_t centroid_norms;  // largest norm of a centroid of each subspace, subspaces floats; or 0
  uint32_t size;            // vectors
  uint32_t dimension;       // 1 to 4,096
  uint32_t graph_stride;    // slots of a row, a multiple of 4, at most 128
  uint32_t medoid;
  uint32_t vector_stride;   // bytes, a multiple of 16
  uint32_t raw_stride;      // bytes
  uint32_t code_stride;     // bytes, a multiple of 16
  uint32_t subspaces;       // 1 to 256, or 0 without codes
  uint32_t similarity;      // Similarity
  uint32_t vector_format;   // VectorFormat of vectors
  uint32_t raw_format;      // kFloat32 or kByte
  uint32_t byte_scoring;    // 1 if the segment's encoding is BYTE: its dot product scores differ
  uint64_t vector_facts;    // ByteFacts of every copy in vectors; or 0: they are no copies of bytes
  uint64_t vector_center;   // dimension floats, which components of copies are less; or 0
  uint32_t whole_copies;    // 1: copies of bytes are the vectors themselves, see vamana/bytes.h
  uint32_t reserved;
};

// One query over one segment; in pinned host memory that the device reads in place.
struct Item {
  uint64_t segment;       // device address of a Segment
  uint64_t query;         // dimension floats (dimension signed bytes if byte_scoring), 16-byte aligned
  uint64_t accepted;      // device address of 64-bit words, bit o of word o/64 = ordinal o accepted; 0: all
  uint64_t entry_points;  // int32 ordinals to start from beside the medoid
  uint64_t result;        // Result, then capacity int32 ordinals, then capacity float scores
  uint32_t entry_count;
  uint32_t k;
  uint32_t beam;          // worklist capacity, k to 10,000
  uint32_t parents;       // 1 to 64
  int32_t rerank;         // best accepted entries that get exact scores, at least k; -1: all expanded
  uint32_t visit_limit;     // kUnlimited in visited.h if it allows a distance for every vector
  uint32_t capacity;      // hits the result has room for; k, or rerank if Segment.raw is 0
  uint32_t reserved;
};

enum ResultFlags : uint32_t {
  kComplete = 1,       // the walk ended by itself
  kCorrupt = 2,        // an ordinal read from a file was out of range; the result is void
  kApproximate = 4,    // scores are not exact: the caller re-ranks
  kOverflow = 8,       // more nodes were expanded than the scratch holds; the result is void
};

struct Result {
  uint32_t count;
  uint32_t visited;     // nodes that got a distance
  uint32_t flags;
  uint32_t iterations;  // steps of the walk
};

// Type of the table or vectors of a walk; one kernel each.
enum Policy : uint32_t {
  kExactFloat32 = 0,
  kExactFloat16 = 1,
  kExactByte = 2,
  kTableHalf = 3,          // distance table in shared memory, 16 bits an entry
  kTableFloat = 4,         // distance table in shared memory, single precision
  kTableFloatGlobal = 5,   // distance table in the block's scratch
};
constexpr uint32_t kPolicies = 6;

// Parameter of the walk kernels, by value.
struct Walk {
  uint64_t items;           // count addresses of Items; with kSideBySide the address of the first
  uint64_t counter;         // device uint32, zero at launch: the next item but for each block's first
  uint64_t scratch;         // scratch_stride bytes for each block; or 0
  uint64_t scratch_stride;
  uint32_t count;
  uint32_t list_capacity;   // largest beam of the items
  uint32_t fresh_capacity;  // largest graph_stride * parents (entry_count + 1) of the items, a multiple of 32
  uint32_t visited_slots;   // a power of two
  uint32_t dimension;       // largest of the items
  uint32_t subspaces;       // largest of the items; 0 for exact policies
  uint32_t expanded_capacity;  // expanded nodes that the scratch holds, 0 if no item asks for them
  uint32_t flags;           // WalkFlags
};

enum WalkFlags : uint32_t {
  kSideBySide = 1,          // Walk.items is an array of Items, not of addresses: one read less over the bus
  kLimited = 2,             // a visit limit may end a walk: nodes are added one after the other, see visited.h
};

// Address of an item of a launch, from the launch's `items` and `flags`.
VAMANA_HD uint64_t item_address(uint64_t items, uint32_t flags, uint32_t item) {
  return (flags & kSideBySide) != 0 ? items + uint64_t{item} * sizeof(Item)
                                    : host_word(reinterpret_cast<const uint64_t*>(items) + item);
}

static_assert(sizeof(Segment) == 120, "Segment");
static_assert(sizeof(Item) == 72, "Item");
static_assert(sizeof(Result) == 16, "Result");
static_assert(sizeof(Walk) == 64, "Walk");

}  // namespace vamana
