// The visited set: buckets of four slots, and forgetting. A forgotten node that is met again gets
// the distance it had; it is then in the worklist, whose merge drops it, or beyond its end. So
// forgetting never changes an answer (unlike BANG's Bloom filter, section 4.4, whose false positives
// lose nodes), and neither lanes that add to one slot at once nor a full bucket need care.
//
// It does change how many nodes get distances, which a visit limit bounds. In launches with such an
// item nodes are therefore added one after the other: row by row, of a row first the nodes at 0, 4, 8, ...,
// then those at 1, 5, 9, ... (as a warp holds them), and entry points as they come.
#pragma once

#include <cstdint>

#include "vamana/platform.h"

namespace vamana {

// Slots of a bucket: what one 16-byte load reads.
constexpr uint32_t kBucket = 4;

// First slot of a node's bucket among so many slots, a power of two.
VAMANA_HD uint32_t visited_bucket(uint32_t ordinal, uint32_t slots) {
  return ((ordinal * 0x9E3779B1u) >> 8) & (slots - 1) & ~(kBucket - 1);
}

// A visit limit that ends no walk.
constexpr uint32_t kUnlimited = 0xFFFFFFFFu;

// Value of a node's slot; 0 is an empty slot.
VAMANA_HD uint32_t visited_mark(uint32_t ordinal) { return ordinal + 1; }

// Where in its bucket a node goes: kBucket if it is there, otherwise the first empty slot, or in a
// full bucket the one whose node is forgotten.
VAMANA_HD uint32_t visited_place(const uint32_t (&bucket)[kBucket], uint32_t ordinal) {
  uint32_t place = ordinal & (kBucket - 1);
  for (uint32_t i = kBucket; i-- > 0;) {
    place = bucket[i] == 0 ? i : place;
  }
  for (uint32_t i = 0; i < kBucket; i++) {
    place = bucket[i] == visited_mark(ordinal) ? kBucket : place;
  }
  return place;
}

// Which slot of its bucket a node tries next where several warps add nodes: each node begins with a slot of its own, which
// is the one whose node is forgotten if the bucket is full.
VAMANA_HD uint32_t visited_slot(uint32_t ordinal, uint32_t tried) {
  return (ordinal + tried) & (kBucket - 1);
}

}  // namespace vamana
