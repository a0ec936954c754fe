// State of a block that walks, and the layout of its shared memory.
#pragma once

#include <cstdint>

#include "worklist.cuh"
#include "vamana/bytes.h"
#include "vamana/shared_layout.h"
#include "vamana/types.h"

namespace vamana {

// Words of shared memory that the threads of a block agree through.
struct Control {
  Segment segment;
  Item item;
  uint32_t next;
  uint32_t fresh_count;
  uint32_t key_count;
  uint32_t merge_count;
  uint32_t list_size;
  uint32_t parent_count;
  uint32_t flags;
  ByteQuery query;  // of walks on copies in bytes
  uint32_t whole;   // 1: copies and query are whole, so that their distances are exact
  float table_scale;
  uint32_t parents[kMaxParents];
  uint64_t behind;  // key of the entry behind the parents of a step
};
static_assert(sizeof(Control) <= kControlBytes, "Control");

// Where merges by all warps mark places (merge_by_ballots): nobody keeps parents then.
template <class W>
__device__ __forceinline__ uint32_t* taken_places(W& w) {
  return w.control.parents;
}

// Marks no place. A barrier has to follow.
template <class W>
__device__ __forceinline__ void clear_taken(W& w) {
  if (W::kWarps >= 8 && threadIdx.x < kMaxParents) {
    taken_places(w)[threadIdx.x] = 0;
  }
}

// Everything a block knows of its item; the same in all threads.
template <uint32_t POLICY, int WARPS>
struct WalkState {
  static constexpr uint32_t kPolicy = POLICY;
  static constexpr int kWarps = WARPS;
  static constexpr uint32_t kThreads = WARPS * 32;
  static constexpr bool kExact = POLICY <= kExactByte;
  // One warp has no registers left for what the next two tell: on halves, and from compute capability
  // 10.0 on.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1000
  static constexpr bool kTight = WARPS == 1;
#else
  static constexpr bool kTight = POLICY == kExactFloat16 && WARPS == 1;
#endif
  // Whether lanes keep sums until all warps make keys of them.
  static constexpr bool kKeepsSums = kExact && kTight == false;
  // Whether short rows are two slots a lane.
  static constexpr bool kNarrowRows = kTight == false;
  static constexpr uint32_t kFormat =
      POLICY == kExactFloat16 ? kFloat16 : POLICY == kExactByte ? kByte : kFloat32;

  const Walk& walk;
  Control& control;
  Worklist list;
  uint64_t* keys;
  uint32_t* ids;
  uint32_t* visited;
  float* query;
  uint8_t* table;
  uint32_t* expanded;
  uint32_t padded;
  uint32_t visited_count;
  uint32_t expanded_count;
  uint32_t iterations;
  float query_norm2;  // |q|^2; of a query of bytes an integer, as bits, where Sums are integers
  bool complete;
  bool begun = false;  // whether the block has had an item

  __device__ WalkState(const Walk& parameters, uint8_t* shared)
      : walk(parameters), control(*reinterpret_cast<Control*>(shared)) {
    SharedLayout layout = shared_layout(POLICY, walk);
    list.keys = reinterpret_cast<uint64_t*>(shared + layout.list);
    keys = reinterpret_cast<uint64_t*>(shared + layout.keys);
    ids = reinterpret_cast<uint32_t*>(shared + layout.ids);
    visited = reinterpret_cast<uint32_t*>(shared + layout.visited);
    query = reinterpret_cast<float*>(shared + layout.query);
    table = shared + layout.table;
    uint8_t* scratch = reinterpret_cast<uint8_t*>(walk.scratch) + blockIdx.x * walk.scratch_stride;
    if constexpr (POLICY == kTableFloatGlobal) {
      table = scratch;
      scratch += static_cast<uint64_t>(walk.subspaces) * kCentroids * 4;
    }
    expanded = reinterpret_cast<uint32_t*>(scratch);
  }
};

// Worklists from this length on are all warps' work.
constexpr uint32_t kLongList = 512;

// Eight warps merge worklists up to these lengths faster than one of them would; with one parent a step, the one warp
// merges while another reads the next row.
constexpr uint32_t kShortList = 128;
constexpr uint32_t kShortListOfOne = 48;

// Least warps that keep a worklist together. For compute capability 12.0 NVRTC 12.9 crashes on fewer than eight.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1200
constexpr int kLeastTogether = 8;
#else
constexpr int kLeastTogether = 2;
#endif

// Whether all warps of the block merge new keys into the worklist, not one of them.
template <class W>
__device__ __forceinline__ bool merges_together(const W& w) {
  const uint32_t beam = w.control.item.beam;
  const uint32_t few = w.control.item.parents == 1 ? kShortListOfOne : kShortList;
  return W::kWarps > 8 ||
         (W::kWarps >= kLeastTogether && (beam > kLongList || (W::kWarps == 8 && beam <= few)));
}

}  // namespace vamana
