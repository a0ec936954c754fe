// A pair that k-selection orders: a float key and a 32-bit id in one 64-bit number. Pairs are ordered by
// key, NaN last; of equal keys the lower id goes first. Ids use all 32 bits, unlike ids of worklist keys.
#pragma once

#include <cstdint>

#include "vamana/order.h"
#include "vamana/platform.h"

namespace vamana {
namespace select {

using Pair = uint64_t;

// Beyond every pair with an id below 2^32 - 1.
constexpr Pair kNoPair = ~0ull;
constexpr uint32_t kNoId = 0xFFFFFFFFu;

VAMANA_HD Pair make_pair(float key, uint32_t id) {
  return (static_cast<Pair>(sortable(key)) << 32) | id;
}

VAMANA_HD uint32_t pair_id(Pair pair) { return static_cast<uint32_t>(pair); }

// NaN for kNoPair.
VAMANA_HD float pair_key(Pair pair) { return unsortable(static_cast<uint32_t>(pair >> 32)); }

}  // namespace select
}  // namespace vamana
