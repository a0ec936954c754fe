// Where the parts of a search of lists lie in a block's shared memory, and in its scratch. Offsets in bytes,
// all multiples of 16.
#pragma once

#include <cstdint>

#include "vamana/list_team.h"
#include "vamana/lists.h"
#include "vamana/platform.h"
#include "vamana/shared_layout.h"

namespace vamana {

constexpr uint32_t kListControlBytes = 768;
constexpr uint32_t kOpenListBytes = 64;
constexpr uint32_t kWaveControlBytes = 1024;
constexpr uint32_t kListSharedLists = 4096;  // with more, the order of lists is in the scratch

struct ListLayout {
  uint32_t keys;        // kListScored 64-bit keys
  uint32_t ids;         // kListScored 32-bit ordinals; of waves kWaveCandidates, by list and estimate
  uint32_t candidates;  // kListCandidates 64-bit: estimate, number in the list; of waves kWaveCandidates
  uint32_t bounds;      // as many floats
  uint32_t ranked;      // as many 16-bit: candidates by their estimates; of waves floats: bounds, as ids
  uint32_t opened;      // of waves: kListWave of kOpenListBytes
  uint32_t wave;        // of waves: kWaveControlBytes
  uint32_t best;        // width 64-bit keys, nearest first
  uint32_t query;       // dimension floats, padded to 16, as exact scores need them
  uint32_t rotated;     // padded floats
  uint32_t residual;    // padded floats
  uint32_t planes;      // for 32 components four words: bits of the residual's numbers; of each list
  uint32_t more;        // for 32 components eight words; of each list
  uint32_t table;       // with kListTable: subspaces * 256 16-bit entries, in place of planes
  uint32_t near;        // lists 32-bit keys; or in the scratch
  uint32_t history;     // of waves: lists 32-bit numbers of hits; or in the scratch
  uint32_t groups;      // of waves: the nearest list of each kListsOfGroup, 64-bit
  uint32_t bytes;       // all
};

VAMANA_HD bool lists_shared(const ListSearch& search) { return search.lists <= kListSharedLists; }

// Of a block that searches one list after the other, or several at once in waves. Parts whose sizes do not
// depend on the search come first: their offsets take no registers.
VAMANA_HD ListLayout list_layout(const ListSearch& search, bool waves, uint32_t codes) {
  ListLayout layout;
  const uint32_t candidates = waves ? kWaveCandidates : kListCandidates;
  const uint32_t opened = waves ? kListWave : 1;
  uint32_t at = kListControlBytes;
  layout.keys = at;
  at += kListScored * 8;
  layout.ids = at;
  at += (waves ? kWaveCandidates : kListScored) * 4;
  layout.candidates = at;
  at += candidates * 8;
  layout.bounds = at;
  at += candidates * 4;
  layout.ranked = at;
  at += candidates * (waves ? 4 : 2);
  layout.opened = at;
  at += waves ? kListWave * kOpenListBytes : 0;
  layout.wave = at;
  at += waves ? kWaveControlBytes : 0;
  layout.best = at;
  at += up16(search.width * 8);
  layout.query = at;
  at += up16(search.dimension) * 4;
  layout.rotated = at;
  at += search.padded * 4;
  layout.residual = at;
  at += search.padded * 4;
  layout.planes = at;
  at += codes == kListBits ? opened * (search.padded / 32 * kListPlanes * 4) : 0;
  layout.more = at;
  at += codes == kListBits ? opened * (search.padded / 32 * kListMorePlanes * 4) : 0;
  layout.table = at;
  at += codes == kListTable ? search.subspaces * kCentroids * 2 : 0;
  layout.near = at;
  const uint32_t of_lists = lists_shared(search) ? up16(search.lists * 4) : 0;
  at += of_lists;
  layout.history = at;
  at += waves ? of_lists : 0;
  layout.groups = at;
  at += waves ? up16((search.lists + kListsOfGroup - 1) / kListsOfGroup * 8) : 0;
  layout.bytes = at;
  return layout;
}

// Bytes from the hits before each list to the order of lists in a block's scratch.
VAMANA_HD uint64_t list_scratch_row(const ListSearch& search) {
  return (uint64_t{search.lists} * 4 + 255) & ~uint64_t{255};
}

// Where the table of kListTableGlobal is in a block's scratch.
VAMANA_HD uint64_t list_scratch_table(const ListSearch& search) {
  return list_scratch_row(search) * (lists_shared(search) ? 1 : 2);
}

// Where a block of a team leaves what it found for the first one: 64-bit keys of kWaveCandidates, then their
// bounds.
VAMANA_HD uint64_t list_scratch_found(const ListSearch& search, uint32_t codes) {
  return list_scratch_table(search) +
         (codes == kListTableGlobal ? uint64_t{search.subspaces} * kCentroids * 4 : 0);
}

// Bytes of a block's scratch: the hits before each list that was searched, then the order of lists, then a table
// of floats, then what a wave found. Where the order is in shared memory, blocks of a team put distances of lists
// in place of hits.
VAMANA_HD uint64_t list_scratch_bytes(const ListSearch& search, bool waves, uint32_t codes) {
  return list_scratch_found(search, codes) + (waves ? kWaveCandidates * 12 : 0);
}

}  // namespace vamana
