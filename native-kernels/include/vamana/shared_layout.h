// Where the parts of a walk lie in a block's shared memory. Offsets in bytes, all multiples of 16.
#pragma once

#include <cstdint>

#include "vamana/platform.h"
#include "vamana/types.h"

namespace vamana {

constexpr uint32_t kControlBytes = 512;
constexpr uint32_t kMaxDynamicShared = 232448;  // of a Hopper block; the device tells its own

struct SharedLayout {
  uint32_t list;        // list_capacity 64-bit keys
  uint32_t keys;        // fresh_capacity 64-bit keys
  uint32_t ids;         // fresh_capacity 32-bit ordinals, later ranks
  uint32_t visited;     // visited_slots 32-bit ordinals + 1
  uint32_t query;       // dimension floats, padded to 16
  uint32_t table;       // subspaces * 256 halves or floats
  uint32_t bytes;       // all
};

VAMANA_HD uint32_t up16(uint32_t value) { return (value + 15u) & ~15u; }

VAMANA_HD SharedLayout shared_layout(uint32_t policy, const Walk& walk) {
  SharedLayout layout;
  uint32_t at = kControlBytes;
  layout.list = at;
  at += up16(walk.list_capacity * 8);
  layout.keys = at;
  at += up16(walk.fresh_capacity * 8);
  layout.ids = at;
  at += up16(walk.fresh_capacity * 4);
  layout.visited = at;
  at += up16(walk.visited_slots * 4);
  layout.query = at;
  at += up16(walk.dimension) * 4;
  layout.table = at;
  if (policy == kTableHalf) {
    at += walk.subspaces * kCentroids * 2;
  } else if (policy == kTableFloat) {
    at += walk.subspaces * kCentroids * 4;
  }
  layout.bytes = at;
  return layout;
}

// Bytes of a block's scratch: the table of kTableFloatGlobal, then expanded ordinals.
VAMANA_HD uint64_t scratch_bytes(uint32_t policy, const Walk& walk) {
  uint64_t table = policy == kTableFloatGlobal ? uint64_t{walk.subspaces} * kCentroids * 4 : 0;
  return table + ((uint64_t{walk.expanded_capacity} * 4 + 255) & ~uint64_t{255});
}

}  // namespace vamana
