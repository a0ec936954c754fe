// The order of worklist entries: by distance, then by lower ordinal. An entry is one 64-bit key, as
// in dev.vamana.graph.Worklist: sortable distance, ordinal, expanded mark; but compared unsigned.
#pragma once

#include <cstdint>
#include <cstring>

#include "vamana/platform.h"

namespace vamana {

constexpr uint64_t kExpanded = 1;
constexpr uint64_t kNoKey = ~0ull;

VAMANA_HD uint32_t float_bits(float value) {
#if defined(__CUDA_ARCH__)
  return __float_as_uint(value);
#else
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
#endif
}

VAMANA_HD float bits_float(uint32_t bits) {
#if defined(__CUDA_ARCH__)
  return __uint_as_float(bits);
#else
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
#endif
}

// Unsigned integers in the order of floats; every NaN is the one that Java makes of it, which is
// beyond infinity.
VAMANA_HD uint32_t sortable(float value) {
  uint32_t bits = value != value ? 0x7FC00000u : float_bits(value);
  return bits ^ ((bits & 0x80000000u) != 0 ? 0xFFFFFFFFu : 0x80000000u);
}

VAMANA_HD float unsortable(uint32_t bits) {
  return bits_float(bits ^ ((bits & 0x80000000u) != 0 ? 0x80000000u : 0xFFFFFFFFu));
}

VAMANA_HD uint64_t make_key(float distance, uint32_t ordinal) {
  return (static_cast<uint64_t>(sortable(distance)) << 32) | (static_cast<uint64_t>(ordinal) << 1);
}

VAMANA_HD uint32_t key_ordinal(uint64_t key) { return static_cast<uint32_t>(key) >> 1; }

VAMANA_HD float key_distance(uint64_t key) { return unsortable(static_cast<uint32_t>(key >> 32)); }

VAMANA_HD bool is_expanded(uint64_t key) { return (key & kExpanded) != 0; }

// The key without its mark: what two entries of one node share.
VAMANA_HD uint64_t unmarked(uint64_t key) { return key & ~kExpanded; }

}  // namespace vamana
