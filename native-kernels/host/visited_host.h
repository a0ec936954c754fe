// The visited set as one thread uses it: in the turns that vamana/visited.h describes.
#pragma once

#include <cstdint>

namespace vamana {

// Nodes that a warp of lanes looks up at a time, four a lane.
constexpr uint32_t kVisitedRow = 128;

// Adds up to kVisitedRow nodes in `turns` turns, 1 or 4; those that are kUnusedSlot are left out.
// Node i was not there if fresh[i] is set.
void visited_add(uint32_t* slots, uint32_t slot_count, const uint32_t* ordinals, uint32_t count,
                 uint32_t turns, bool* fresh);

}  // namespace vamana
