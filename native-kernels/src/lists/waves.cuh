// Search of several lists at once, by blocks that have a multiprocessor each. A wave of lists is estimated with the
// limit that the lists before it leave, and all of its candidates get exact scores together. Then one warp goes through
// the scores in the order of lists and estimates, and does what a search of one list after the other does: what that
// would not have scored is not looked at, and what comes after its end neither. So the answers are the same, and the
// waits for memory of several lists are one. Blocks of a team share the pieces of a wave.
#pragma once

#include <cstdint>

#include "cta.cuh"
#include "lists/pick.cuh"
#include "lists/replay.cuh"
#include "lists/share.cuh"
#include "lists/state.cuh"
#include "lists/team.cuh"

namespace vamana {

// The warp that takes the next lists while the first one goes through the scores.
constexpr uint32_t kPicker = 1;

// Most pieces of a wave of so many blocks that are searched at once.
__device__ __forceinline__ uint32_t wave_pieces(uint32_t blocks) {
  return blocks * kListWave < kTeamWave ? blocks * kListWave : kTeamWave;
}

// Lists of the wave behind one of so many lists, of which none had more than `candidates`: up to four times as
// many, or one for each block, if half of the room for each would have done. Later lists have fewer candidates.
__device__ __forceinline__ uint32_t wave_growth(uint32_t lists, uint32_t candidates, uint32_t blocks,
                                                uint32_t most) {
  const uint32_t enough = 2 * blocks > kListWave ? 2 * blocks : kListWave;
  most = enough < most ? enough : most;
  uint32_t grown = 4 * lists > blocks ? 4 * lists : blocks;
  grown = grown < most ? grown : most;
  while (grown > lists && 2 * candidates > wave_room((grown + blocks - 1) / blocks)) {
    grown = grown / 2 > lists ? grown / 2 : lists;
  }
  return grown;
}

// Takes lists for the next wave, by one warp, while the wave is looked at. Also looks which blocks there are. As other
// steps of the leader it is no part of its caller, which has no registers for what all of them need.
template <class S>
__device__ __noinline__ void pick_next(const ListSearch& search, bool all) {
  S s(search, block_memory());
  const Wave wave = wave_of(s.wave->words);
  uint32_t blocks = 1;
  if (has_team(s.search)) {
    blocks = team_load(&team_of(s.search).arrived);
  }
  if (s.wave->picked_first == s.wave->picked_count) {
    uint32_t largest = 0;
    for (uint32_t piece = lane_id(); piece < wave.pieces && all == false; piece += 32) {
      const uint32_t found = s.wave->found[piece];
      const uint32_t count = (found & kFoundMore) != 0 ? kListCandidates : found >> kFoundBits & kFoundMask;
      largest = count > largest ? count : largest;
    }
    const uint32_t lists = wave.pieces > wave.parts ? wave.pieces - wave.parts : 1;
    // all lanes have read which lists are left before one of them says which are taken
    __syncwarp();
    pick_lists(s, wave_growth(lists, warp_max(largest), blocks, s.wave->pick_most));
  }
  if (lane_id() == 0) {
    s.wave->blocks = blocks;
  }
}

// Describes the next wave and tells helpers, by one warp: what is left of the list begun last, and the lists that were
// taken. While all entries are candidates, a wave has parts of one list only. Without anything left the search ends.
template <class S>
__device__ __noinline__ void begin_wave(const ListSearch& search, bool all, bool first) {
  S s(search, block_memory());
  WaveControl& wave = *s.wave;
  const uint32_t blocks = first ? 1 : wave.blocks;
  const uint32_t most = wave_pieces(blocks);
  uint32_t parts = 0;
  uint32_t left = 0;
  uint32_t lists = wave.picked_count - wave.picked_first;
  const uint32_t from = wave.part_from;
  if (from != 0) {
    left = (wave.part_count - from + kListBlock - 1) / kListBlock;
    const uint32_t room = all ? blocks * (kWaveCandidates / kListCandidates) : most;
    parts = left < room ? left : room;
    lists = all || parts < left || parts + lists > most ? 0 : lists;
  } else if (all && lists > 0) {
    // the first entries; how many there are behind them will be known then
    parts = 1;
    lists = 0;
  }
  const uint32_t pieces = parts + lists;
  const uint32_t begun = from != 0 || parts == 0 ? wave.picked_first : wave.picked_first + 1;
  const uint32_t of_parts = from != 0 ? wave.part_list : parts > 0 ? wave.picked[wave.picked_first] : 0;
  for (uint32_t word = lane_id(); word < kTeamWave / 2; word += 32) {
    uint32_t pair = 0;
#pragma unroll
    for (uint32_t half = 0; half < 2; half++) {
      const uint32_t piece = 2 * word + half;
      const uint32_t list = piece < parts   ? of_parts
                            : piece < pieces ? wave.picked[wave.picked_first + piece - parts]
                                             : 0;
      pair |= list << (16 * half);
    }
    wave.words[word] = pair;
  }
  __syncwarp();
  if (lane_id() == 0) {
    wave.words[kWaveLimit] = __float_as_uint(s.control.limit);
    wave.words[kWaveShape] = wave_shape(pieces, blocks, parts);
    wave.words[kWavePart] = from;
    wave.part_from = parts < left ? from + parts * kListBlock : 0;
    wave.part_list = of_parts;
    wave.picked_first = lists > 0 ? wave.picked_count : begun;
    wave.next = 0;
    wave.pick_most = wave.most;
    wave.exhausted = pieces == 0 ? 1 : 0;
  }
  __syncwarp();
  if (blocks > 1 && pieces > 0) {
    publish_wave(s);
  }
}

// Searches the pieces of waves as they are published.
template <class S>
__device__ __forceinline__ void help_waves(const ListSearch& search) {
  const S s(search, block_memory());
  while (true) {
    if (warp_id() == 0) {
      await_wave<S>(search);
    }
    cta_sync<S::kWarps>();
    if (s.wave->tag == kTeamEnd) {
      return;
    }
    const Share share = search_share<S>(search, s.wave->words, s.wave->member);
    if (share.pieces > 0) {
      report_share<S>(search, share, true);
    }
    cta_sync<S::kWarps>();
  }
}

// Before the first wave: takes the first list. Ends with a barrier.
template <class S>
__device__ __noinline__ void begin_waves(const ListSearch& search) {
  S s(search, block_memory());
  group_lists(s, team_keys(s));
  if (warp_id() == kPicker) {
    pick_lists(s, 1);
  }
  if (threadIdx.x == 0) {
    s.control.best_size = 0;
    s.control.limit = infinite();
    s.control.probed = 0;
    s.wave->most = kTeamWave;
    s.wave->part_from = 0;
    s.wave->alone_left = 0;
  }
  cta_sync<S::kWarps>();
}

// Searches lists, nearest first, until the last ones have brought few hits: first one, then more each time.
template <class S>
__device__ __forceinline__ void lead_waves(const ListSearch& search) {
  begin_waves<S>(search);
  const S s(search, block_memory());
  bool first = true;
  while (true) {
    const bool all = s.control.limit == infinite() && s.control.item.accepted == 0;
    if (warp_id() == 0) {
      begin_wave<S>(search, all, first);
    }
    cta_sync<S::kWarps>();
    if (s.wave->exhausted != 0) {
      break;
    }
    Share share = search_share<S>(search, s.wave->words, 0);
    const bool exported = share.more || wave_of(s.wave->words).blocks > 1;
    if (threadIdx.x == 0 && all && s.opened[0].from == 0 && s.opened[0].count > kListBlock) {
      s.wave->part_from = kListBlock;
      s.wave->part_count = s.opened[0].count;
    }
    report_share<S>(search, share, exported);
    if (warp_id() == 0) {
      await_found<S>(search);
    }
    bool picks = true;
    uint32_t state = kWaveOn;
    while (state == kWaveOn) {
      if (warp_id() == 0) {
        place_pieces<S>(search);
      }
      cta_sync<S::kWarps>();
      if (exported) {
        gather_pieces<S>(search);
        cta_sync<S::kWarps>();
      }
      if (warp_id() == 0) {
        replay_wave<S>(search);
      } else if (warp_id() == kPicker && picks) {
        pick_next<S>(search, all);
      }
      picks = false;
      cta_sync<S::kWarps>();
      while (s.wave->alone_left != 0) {
        share = search_share<S>(search, s.wave->alone, 0);
        if (warp_id() == 0) {
          replay_alone<S>(search, share);
        }
        cta_sync<S::kWarps>();
      }
      // the next wave leaves this word as it is until all have read it
      state = s.wave->state;
    }
    if (state == kSearchEnded) {
      break;
    }
    first = false;
  }
  if (has_team(s.search) && warp_id() == 0) {
    publish_end(s);
  }
}

}  // namespace vamana
