// Walks whose neighbours the CPU fetches (BANG base, section 3.2): the state of a batch between the
// kernels of a step, and their parameters. Queries have slots; a launch works on some of them.
//
// A step is host_fetch_filter, host_fetch_distance_*, host_fetch_pick, host_fetch_sort and
// host_fetch_merge, as in the paper; or host_fetch_near, which is the first three, and
// host_fetch_update, which is the last two. All take a HostFetch by value, one block a slot.
#pragma once

#include <cstddef>
#include <cstdint>

#include "vamana/order.h"
#include "vamana/platform.h"
#include "vamana/types.h"

namespace vamana {

// Threads that add up one asymmetric distance together (BANG, section 4.5).
constexpr uint32_t kFetchGroup = 8;

enum FetchFlags : uint32_t {
  kStopped = 16,  // of a state: the visit limit ended the walk
  // Of a launch: the next parents are chosen from the merged worklist, by host_fetch_merge or
  // host_fetch_update; otherwise before sorting (section 4.6), which goes with one parent alone.
  kPickMerged = 4,
};

// State of one query; in device memory.
struct FetchState {
  uint64_t segment;      // device address of a Segment
  uint64_t codes;        // of the segment, as are size, code_stride and subspaces
  uint64_t pick_key;     // worklist key of the parent whose row is being fetched; kNoKey: none
  uint32_t size;
  uint32_t code_stride;
  uint32_t subspaces;
  uint32_t beam;         // capacity of the worklist
  uint32_t visit_limit;
  uint32_t visited;      // nodes that got a distance
  uint32_t iterations;   // steps
  uint32_t list_size;    // entries of the worklist
  uint32_t cursor;       // no entry before it is unexpanded
  uint32_t fresh_count;  // ids of this step, later keys
  uint32_t flags;        // ResultFlags and kStopped; any of them ends the walk
  uint32_t picked;       // parents whose rows are being fetched
};

// Parameter of host_fetch_begin and of the kernels of a step.
struct HostFetch {
  uint64_t items;           // Items by slot; read in place by host_fetch_begin alone
  uint64_t states;          // FetchStates by slot
  uint64_t tables;          // table_stride floats a slot
  uint64_t lists;           // worklists, list_capacity keys a slot
  uint64_t keys;            // new keys, fresh_capacity a slot
  uint64_t ids;             // new ordinals, fresh_capacity a slot
  uint64_t visited;         // visited_slots words a slot, 16-byte aligned
  uint64_t slots;           // the slots of this launch, count of them
  uint64_t rows;            // count rows of row_stride ordinals, 16-byte aligned: neighbours
  uint64_t picks;           // count times parents ordinals: the next parents, then kUnusedSlot
  uint32_t count;
  uint32_t table_stride;
  uint32_t list_capacity;   // largest beam
  uint32_t fresh_capacity;  // at least row_stride, a multiple of 32
  uint32_t visited_slots;   // a power of two
  uint32_t row_stride;      // a multiple of 4
  uint32_t parents;         // expanded a step; above 1 only with kPickMerged
  uint32_t flags;           // kPickMerged, kNoVisitedFilter
};

// Candidates of one slot.
struct FetchGroup {
  uint32_t slot;
  uint32_t first;  // its first candidate
  uint32_t count;
  uint32_t reserved;
};

// Parameter of host_fetch_rerank, which gives candidates exact scores and writes the best item.k of
// each group into the item's result, of which it sets the count alone. One block a group.
struct FetchRerank {
  uint64_t items;          // Items by slot
  uint64_t groups;         // FetchGroups, one a block
  uint64_t ordinals;       // candidates
  uint64_t rows;           // row of each candidate in vectors
  uint64_t vectors;        // rows of vector_stride bytes: floats, or the bytes of byte vectors
  uint32_t count;          // groups
  uint32_t vector_stride;  // a multiple of 16
  uint32_t list_capacity;  // largest k
  uint32_t dimension;
};

static_assert(sizeof(FetchState) == 72, "FetchState");
static_assert(sizeof(HostFetch) == 112, "HostFetch");
static_assert(sizeof(FetchGroup) == 16, "FetchGroup");
static_assert(sizeof(FetchRerank) == 56, "FetchRerank");

// Candidates that host_fetch_rerank scores at a time.
constexpr uint32_t kRerankPass = 32;

// Dynamic shared memory of the kernels, in bytes; none for those that are not named here.
VAMANA_HD uint32_t begin_shared_bytes(uint32_t dimension) { return ((dimension + 15u) & ~15u) * 4; }

// host_fetch_near, host_fetch_sort, host_fetch_merge, host_fetch_update: keys and ordinals or ranks.
VAMANA_HD uint32_t step_shared_bytes(uint32_t fresh_capacity) { return fresh_capacity * 12; }

VAMANA_HD uint32_t rerank_shared_bytes(uint32_t list_capacity, uint32_t dimension) {
  return ((list_capacity * 8 + 15u) & ~15u) + kRerankPass * 16 + begin_shared_bytes(dimension);
}

}  // namespace vamana
