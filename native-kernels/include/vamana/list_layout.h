// Where the parts of a search of lists lie in a block's shared memory, and in its scratch. Offsets in bytes,
// all multiples of 16.
#pragma once

#include <cstdint>

#include "vamana/lists.h"
#include "vamana/platform.h"
#include "vamana/shared_layout.h"

namespace vamana {

constexpr uint32_t kListControlBytes = 768;
constexpr uint32_t kListSharedLists = 4096;  // with more, the order of lists is in the scratch

struct ListLayout {
  uint32_t best;        // width 64-bit keys, nearest first
  uint32_t keys;        // kListScored 64-bit keys
  uint32_t ids;         // kListScored 32-bit ordinals
  uint32_t candidates;  // kListCandidates 64-bit: estimate, number in the list
  uint32_t bounds;      // kListCandidates floats
  uint32_t ranked;      // kListCandidates 16-bit: candidates by their estimates
  uint32_t query;       // dimension floats, padded to 16, as exact scores need them
  uint32_t rotated;     // padded floats
  uint32_t residual;    // padded floats
  uint32_t planes;      // for 32 components four words: bits of the residual's numbers
  uint32_t more;        // for 32 components eight words
  uint32_t near;        // lists 32-bit keys; or in the scratch
  uint32_t bytes;       // all
};

VAMANA_HD bool lists_shared(const ListSearch& search) { return search.lists <= kListSharedLists; }

VAMANA_HD ListLayout list_layout(const ListSearch& search) {
  ListLayout layout;
  uint32_t at = kListControlBytes;
  layout.best = at;
  at += up16(search.width * 8);
  layout.keys = at;
  at += kListScored * 8;
  layout.ids = at;
  at += kListScored * 4;
  layout.candidates = at;
  at += kListCandidates * 8;
  layout.bounds = at;
  at += kListCandidates * 4;
  layout.ranked = at;
  at += kListCandidates * 2;
  layout.query = at;
  at += up16(search.dimension) * 4;
  layout.rotated = at;
  at += search.padded * 4;
  layout.residual = at;
  at += search.padded * 4;
  layout.planes = at;
  at += search.padded / 32 * kListPlanes * 4;
  layout.more = at;
  at += search.padded / 32 * kListMorePlanes * 4;
  layout.near = at;
  at += lists_shared(search) ? up16(search.lists * 4) : 0;
  layout.bytes = at;
  return layout;
}

// Bytes of a block's scratch: the hits before each list that was searched, then the order of lists.
VAMANA_HD uint64_t list_scratch_bytes(const ListSearch& search) {
  const uint64_t row = (uint64_t{search.lists} * 4 + 255) & ~uint64_t{255};
  return row * (lists_shared(search) ? 1 : 2);
}

}  // namespace vamana
