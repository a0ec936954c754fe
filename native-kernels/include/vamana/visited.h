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

// What a slot holds of a node; 0 is an empty slot.
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

// What a place of a bucket holds; the bucket stays in registers.
VAMANA_HD uint32_t visited_entry(const uint32_t (&bucket)[kBucket], uint32_t place) {
  const uint32_t low = (place & 1) != 0 ? bucket[1] : bucket[0];
  const uint32_t high = (place & 1) != 0 ? bucket[3] : bucket[2];
  return place < 2 ? low : high;
}

}  // namespace vamana
