// Ways to make a step of a walk, each of which a kernel has or has not. Answers are the same with all.
#pragma once

#include <cstdint>

#ifndef VAMANA_STEP
#define VAMANA_STEP 0
#endif

namespace vamana {

enum StepVariant : uint32_t {
  kReducedPick = 1,    // the nearest new key by the warp's own minimum instruction
  kLaneKeys = 2,       // lanes keep the sums of several turns, and all warps make keys of them
  kJoinedRow = 4,      // the warp that picks a lone parent appends its row, without a barrier between
  kNarrowRows = 8,     // rows of up to 64 slots are two slots a lane
  kFewKeys = 16,       // a few new keys are merged by counting, without sorting and searching
  kEarlyRow = 32,      // the row of the nearest unexpanded entry is requested before distances
  kSplitRoles = 64,    // one warp appends the row of a lone parent while another merges
  kVectorPrefetch = 128,  // vectors of a row's nodes are requested into the L2 cache
  kSortApart = 256,    // more than 64 new keys are sorted out of line
};

template <uint32_t VARIANT>
constexpr bool kHas = (VAMANA_STEP & VARIANT) != 0;

}  // namespace vamana
