// Messages in device memory between the blocks of a team, which search inverted lists for one item together.
// docs/internals/ivf-gpu.md has the design.
#pragma once

#include <cstddef>
#include <cstdint>

#include "vamana/lists.h"
#include "vamana/platform.h"

namespace vamana {

constexpr uint32_t kMostTeam = 32;   // most blocks of a team
constexpr uint32_t kTeamWave = 64;   // most pieces of a wave that a team searches at once
constexpr uint32_t kTeamEnd = 0xFFFFFFFFu;  // tag behind the last wave

// Words that describe a wave. The first have the list of each piece, 16 bits.
enum WaveWord : uint32_t {
  kWaveLimit = kTeamWave / 2,  // a float: what pieces are estimated with
  kWaveShape,                  // pieces | blocks << 8 | leading pieces that are parts of one list << 16
  kWavePart,                   // first entry of the first of those parts, a multiple of kListBlock
  kWaveWords,
};

// With this bit in the shape, the only part has all further entries of its list.
constexpr uint32_t kWaveToEnd = 1u << 24;

// Result of a piece, in 32 bits: place of its first candidate | candidates << 11, and flags.
constexpr uint32_t kFoundBits = 11;
constexpr uint32_t kFoundMask = (1u << kFoundBits) - 1;
constexpr uint32_t kFoundMore = 1u << 30;     // more candidates than there was room for: none are kept
constexpr uint32_t kFoundCorrupt = 1u << 31;  // an ordinal of the block's pieces is not one of its list

// One team. All words are zero before a launch, and again when all of its blocks have ended.
struct ListTeam {
  uint64_t published[64];  // words of a wave, each with the wave's number as the upper half
  uint64_t found[kTeamWave];  // what was found in each piece, with the wave's number as the upper half
  uint32_t claimed;        // parts of the centroids that a block measures or has measured
  uint32_t measured;       // parts that have been measured
  uint32_t arrived;        // blocks that have begun; the first one leads
  uint32_t left;           // blocks that have ended
  uint32_t reserved[28];
};

constexpr uint32_t kListTeamBytes = 1152;
static_assert(sizeof(ListTeam) == kListTeamBytes, "ListTeam");
static_assert(kWaveWords <= 64, "words of a wave");

// Lists of which a block measures the distances at a time.
VAMANA_HD uint32_t team_lists(uint32_t lists, uint32_t team) {
  const uint32_t share = (lists + team - 1) / team;
  return share < 16 ? 16 : share;
}

}  // namespace vamana
