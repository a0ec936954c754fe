// Walks whose neighbours the CPU fetches (BANG base, section 3.2): the state of a batch between the
// steps, and parameters of the kernels. Queries have slots; a launch works on some of them, one block of
// kFetchThreads threads a slot. host_fetch_begin and host_fetch_step take a HostFetch by value.
#pragma once

#include <cstddef>
#include <cstdint>

#include "vamana/order.h"
#include "vamana/platform.h"
#include "vamana/types.h"

namespace vamana {

// Threads of a block of each kernel.
constexpr uint32_t kFetchThreads = 128;

// Threads that add up one asymmetric distance together (BANG, section 4.5).
constexpr uint32_t kFetchGroup = 8;

enum FetchFlags : uint32_t {
  kStopped = 16,  // of a state: the visit limit ended the walk
};

// State of one query; in device memory.
struct FetchState {
  uint64_t codes;        // of the segment, as are size, code_stride and subspaces
  uint32_t size;
  uint32_t code_stride;
  uint32_t subspaces;
  uint32_t beam;         // capacity of the worklist
  uint32_t visit_limit;
  uint32_t visited;      // nodes that got a distance
  uint32_t iterations;   // steps
  uint32_t list_size;    // entries of the worklist
  uint32_t cursor;       // no entry before it is unexpanded
  uint32_t flags;        // ResultFlags and kStopped; any of them ends the walk
  uint32_t picked;       // parents whose rows are being fetched
  uint32_t reserved;
};

// Parameter of host_fetch_begin and of host_fetch_step.
struct HostFetch {
  uint64_t items;           // Items by slot; read in place by host_fetch_begin alone
  uint64_t states;          // FetchStates by slot
  uint64_t tables;          // table_stride floats a slot
  uint64_t lists;           // worklists, list_capacity keys a slot
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
  uint32_t parents;         // expanded a step
  uint32_t reserved;
};

static_assert(sizeof(FetchState) == 56, "FetchState");
static_assert(sizeof(HostFetch) == 96, "HostFetch");

// Dynamic shared memory of host_fetch_begin, in bytes: the query.
VAMANA_HD uint32_t begin_shared_bytes(uint32_t dimension) { return ((dimension + 15u) & ~15u) * 4; }

// Of host_fetch_step: fresh_capacity new keys, then as many ordinals, later ranks.
VAMANA_HD uint32_t step_shared_bytes(uint32_t fresh_capacity) { return fresh_capacity * 12; }

}  // namespace vamana
