// The visited set as one thread uses it, in the order that vamana/visited.h describes.
#pragma once

#include <cstdint>

namespace vamana {

// Nodes that the lanes of a warp hold together, four each.
constexpr uint32_t kVisitedRow = 128;

// Adds `count` nodes, up to kVisitedRow: those at 0, stride, 2 * stride, ..., then those at 1, and so
// on; kUnusedSlot is left out. fresh[i] tells that node i was not there.
void visited_add(uint32_t* slots, uint32_t slot_count, const uint32_t* ordinals, uint32_t count,
                 uint32_t stride, bool* fresh);

}  // namespace vamana
