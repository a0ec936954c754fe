// Building a graph in batches: the parameter of the kernels. A batch of nodes is searched for by the
// walk kernels in the graph so far; these kernels choose the neighbours of its nodes and add the
// edges back.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "vamana/platform.h"
#include "vamana/types.h"

namespace vamana {

// Edges back that a block compares at a time; it keeps as many of the nearest candidates.
constexpr uint32_t kBuildChunk = 256;

// Words that the kernels count in.
enum BuildCounter : uint32_t {
  kBuildItem = 0,     // the walk's counter of items
  kBuildTouched = 1,  // nodes that edges came to; build_reach: nodes that were reached
  kBuildPlaced = 2,   // edges that have a place in sources
  kBuildFull = 3,     // rows that have no room for the edges that came to them
  kBuildCounters = 4,
};

// The edges that came to a node.
struct BuildRun {
  uint32_t node;
  uint32_t start;  // place of the first in sources
  uint32_t count;
  uint32_t reserved;
};

// The only parameter of the kernels.
struct Build {
  uint64_t segment;    // Segment, which the walks read
  uint64_t vectors;    // size rows of vector_stride bytes: dimension floats, 16-byte aligned
  uint64_t graph;      // size rows of graph_stride ordinals, the unused ones kUnusedSlot, at the end
  uint64_t nodes;      // count ordinals: the nodes of the batch; 0: first, first + 1, ...
  uint64_t found;      // count results of the walks with room for beam hits; 0: there were none
  uint64_t items;      // count Items
  uint64_t addresses;  // count addresses of them
  uint64_t counters;   // uint32 [kBuildCounters]
  uint64_t arrivals;   // uint32 [size]: edges that came to each node; 0 before and after a batch.
                       // build_reach: level of each node in the search tree, or kUnusedSlot
  uint64_t starts;     // uint32 [size]: place of a node's first edge in sources. From build_append on:
                       // the runs of full rows. build_reach: the node before each node in the search
                       // tree, or kUnusedSlot
  uint64_t runs;       // BuildRun [count * max_degree]
  uint64_t sources;    // uint32 [count * max_degree]: where the edges came from, by node
  uint64_t inverse_norms;  // floats [size]: one divided by each vector's norm, 0 for the zero vector. The
                           // kernels for inner products compare by them
  uint32_t first;      // build_reach: the level whose neighbours are reached
  uint32_t count;
  uint32_t size;
  uint32_t dimension;
  uint32_t vector_stride;
  uint32_t graph_stride;
  uint32_t max_degree;  // most neighbours that a prune keeps
  uint32_t slots;       // a row with more neighbours is pruned; max_degree to graph_stride
  uint32_t beam;
  uint32_t parents;
  uint32_t candidates;  // of build_choose: beam + graph_stride; of build_append: kBuildChunk; of
                        // build_merge: 2 * kBuildChunk
  float alpha;
};

static_assert(sizeof(BuildRun) == 16, "BuildRun");
static_assert(sizeof(Build) == 152, "Build");

// Bytes of a walk's result with room for `beam` hits.
VAMANA_HD uint64_t build_result_bytes(uint32_t beam) {
  return (sizeof(Result) + 8ull * beam + 15) & ~15ull;
}

// Whether a kept neighbour occludes a candidate: `between` is the squared distance of the two, `own`
// the squared distance of the candidate from the node.
VAMANA_HD bool build_occludes(float alpha, float between, float own) {
#if defined(__CUDA_ARCH__)
  return __fmul_rn(alpha, between) <= own;
#else
  return alpha * between <= own;
#endif
}

// Squared distance of the directions of two vectors from their inner product; one of them is the candidate
// that may be dropped. The zero vector has no direction: it is dropped by any other, and drops none.
VAMANA_HD float build_direction_distance(float product, float candidate_inverse, float inverse) {
  if (candidate_inverse == 0) {
    return 0;
  }
  const float distance = 2 - 2 * product * candidate_inverse * inverse;
  return distance > 0 ? distance : 0;
}

// One divided by a vector's norm, from its squared norm.
VAMANA_HD float build_inverse_norm(float squares) { return squares > 0 ? 1 / sqrtf(squares) : 0; }

}  // namespace vamana
