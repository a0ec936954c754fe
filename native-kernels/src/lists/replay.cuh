// Goes through the scores of a wave in the order of lists and estimates, by one warp, and does what a search of one
// list after the other does.
#pragma once

#include <cstdint>

#include "cta.cuh"
#include "lists/score.cuh"
#include "lists/share.cuh"
#include "lists/state.cuh"

namespace vamana {

// The warp's state of the nearest vectors so far.
struct Replay {
  uint64_t own;      // with a width of up to 32: the entry of this lane, or kNoKey
  uint64_t worst;    // the last of them if there are enough, else kNoKey
  uint32_t visited;
  uint32_t hits;
  uint32_t ruled;    // lists for which `window` and `late` of lane 0 hold; lane n's hold for n more lists
  uint32_t window;
  uint32_t late;
};

// Widths of which each lane has one entry.
constexpr uint32_t kLaneWidth = 32;

template <class S>
__device__ __forceinline__ void rule_lists(const S& s, Replay& replay) {
  replay.ruled = s.probed;
  replay.window = list_window(s.probed + lane_id());
  replay.late = list_late(s.probed + lane_id(), s.width);
}

template <class S>
__device__ __forceinline__ Replay begin_replay(S& s) {
  s.best_size = s.control.best_size;
  s.limit = s.control.limit;
  s.probed = s.control.probed;
  Replay replay;
  replay.own = lane_id() < s.best_size && s.width <= kLaneWidth ? s.best[lane_id()] : kNoKey;
  replay.worst = s.best_size == s.width ? s.best[s.width - 1] : kNoKey;
  replay.visited = s.control.visited;
  replay.hits = s.control.all_hits;
  rule_lists(s, replay);
  return replay;
}

template <class S>
__device__ __forceinline__ void end_replay(S& s, const Replay& replay) {
  __syncwarp();
  if (lane_id() < s.best_size && s.width <= kLaneWidth) {
    s.best[lane_id()] = replay.own;
  }
  if (lane_id() == 0) {
    s.control.best_size = s.best_size;
    s.control.limit = s.limit;
    s.control.probed = s.probed;
    s.control.visited = replay.visited;
    s.control.all_hits = replay.hits;
  }
}

// Whether no further list is searched.
template <class S>
__device__ __forceinline__ bool search_ends(const S& s, Replay& replay) {
  if (replay.visited >= s.control.item.visit_limit || s.control.flags != 0) {
    return true;
  }
  if (s.limit == infinite() || s.probed < kListProbes) {
    return false;
  }
  if (s.probed - replay.ruled >= 32) {
    rule_lists(s, replay);
  }
  const int lane = static_cast<int>(s.probed - replay.ruled);
  const uint32_t window = __shfl_sync(kAllLanes, replay.window, lane);
  return replay.hits - s.history[window] <= __shfl_sync(kAllLanes, replay.late, lane);
}

// Begins with the next list, unless no further list is searched; returns whether it does.
template <class S>
__device__ __forceinline__ bool begin_list(S& s, Replay& replay) {
  if (search_ends(s, replay)) {
    return false;
  }
  if (lane_id() == 0) {
    s.history[s.probed] = replay.hits;
  }
  s.probed++;
  __syncwarp();
  return true;
}

// Takes keys of s.keys, which may be among the nearest, as if they came one after the other.
template <class S>
__device__ __forceinline__ void take_keys(S& s, Replay& replay, uint32_t count) {
  __syncwarp();
  if (s.width <= kLaneWidth) {
    for (uint32_t i = 0; i < count; i++) {
      const uint64_t key = s.keys[i];
      const uint32_t nearer = __popc(__ballot_sync(kAllLanes, replay.own < key));
      if (nearer < s.width) {
        const uint64_t before = __shfl_up_sync(kAllLanes, replay.own, 1);
        replay.own = lane_id() < nearer ? replay.own : lane_id() == nearer ? key : before;
        replay.own = lane_id() < s.width ? replay.own : kNoKey;
        replay.hits++;
      }
    }
    const uint32_t grown = s.best_size + count;
    s.best_size = grown < s.width ? grown : s.width;
    if (s.best_size == s.width) {
      replay.worst = __shfl_sync(kAllLanes, replay.own, static_cast<int>(s.width - 1));
      s.limit = list_distance(s.control.lists.estimates, -key_distance(replay.worst),
                              s.control.segment.dimension);
    }
  } else {
    keep_best<1>(s, count);
    replay.hits += s.control.new_hits;
    replay.worst = s.best_size == s.width ? s.best[s.width - 1] : kNoKey;
  }
  __syncwarp();
}

// Takes the scores of a piece's candidates at positions from..end-1, as score_candidates would: 16 candidates
// at a time that the limit leaves open. Only keys below the last of the nearest change the result. They are few, so
// all others are counted only.
template <class S>
__device__ __forceinline__ void replay_piece(S& s, Replay& replay, uint32_t from, uint32_t end) {
  uint32_t taken = 0;    // of the 16
  uint32_t pending = 0;  // of these, keys that may be among the nearest
  while (from < end) {
    const uint32_t position = from + lane_id();
    bool keep = position < end && s.sorted[position] <= s.limit;
    uint32_t kept = __ballot_sync(kAllLanes, keep);
    const uint32_t left = s.control.item.visit_limit - replay.visited;
    const uint32_t place = __popc(kept & lanes_below());
    if (__popc(kept) > left) {
      keep = keep && place < left;
      kept = __ballot_sync(kAllLanes, keep);
    }
    const uint64_t key = keep ? s.candidates[position] : kNoKey;
    const bool near = key < replay.worst;
    if (__ballot_sync(kAllLanes, near) == 0 && pending == 0) {
      replay.visited += __popc(kept);
      taken = (taken + __popc(kept)) % kListScored;
      from += 32;
      continue;
    }
    const uint32_t room = kListScored - taken;
    const bool own = keep && place < room;
    const uint32_t last = __ballot_sync(kAllLanes, own && place == room - 1);
    const uint32_t owns = __popc(__ballot_sync(kAllLanes, own));
    const uint32_t nears = __ballot_sync(kAllLanes, own && near);
    if (own && near) {
      s.keys[pending + __popc(nears & lanes_below())] = key;
    }
    pending += __popc(nears);
    replay.visited += owns;
    taken += owns;
    from += last != 0 ? static_cast<uint32_t>(__ffs(static_cast<int>(last))) : 32;
    if (taken == kListScored) {
      if (pending > 0) {
        take_keys(s, replay, pending);
      }
      pending = 0;
      taken = 0;
    }
  }
  if (pending > 0) {
    take_keys(s, replay, pending);
  }
}

// Looks for a piece again by itself: the whole of its list, or a part of it.
template <class S>
__device__ __forceinline__ void set_alone(S& s, uint32_t list, uint32_t from, bool to_end) {
  if (lane_id() == 0) {
    s.wave->alone[0] = list;
    s.wave->alone[kWaveLimit] = __float_as_uint(s.limit);
    s.wave->alone[kWaveShape] = wave_shape(1, 1, 1) | (to_end ? kWaveToEnd : 0);
    s.wave->alone[kWavePart] = from;
  }
}

// Goes through the pieces of a wave whose candidates are in shared memory. Stops in front of the candidates of a
// piece for which there was no room.
template <class S>
__device__ __noinline__ void replay_wave(const ListSearch& search) {
  S s(search, block_memory());
  Replay replay = begin_replay(s);
  const Wave wave = wave_of(s.wave->words);
  const uint32_t until = s.wave->until;
  uint32_t piece = s.wave->next;
  bool ended = false;
  bool alone = false;
  while (piece < until && ended == false && alone == false) {
    const Piece own = piece_of(s.wave->words, wave, piece);
    const uint32_t found = s.wave->found[piece];
    if (own.from == 0) {
      ended = begin_list(s, replay) == false;
      if (ended) {
        break;
      }
    }
    if ((found & kFoundCorrupt) != 0) {
      atomicOr(&s.control.flags, static_cast<uint32_t>(kCorrupt));
      ended = true;
    } else if ((found & kFoundMore) != 0) {
      alone = true;
      set_alone(s, own.list, own.from, piece >= wave.parts);
      if (lane_id() == 0) {
        s.wave->alone_end = own.to;
      }
    } else {
      const uint32_t start = s.wave->starts[piece];
      replay_piece(s, replay, start, start + (found >> kFoundBits & kFoundMask));
    }
    piece++;
  }
  if (alone == false && piece == wave.pieces && s.wave->part_from == 0) {
    ended = ended || search_ends(s, replay);
  }
  end_replay(s, replay);
  if (lane_id() == 0) {
    s.wave->next = piece;
    s.wave->alone_left = alone ? 1 : 0;
    s.wave->state = ended ? kSearchEnded : piece == wave.pieces && alone == false ? kWaveEnded : kWaveOn;
    if (alone) {
      // with so many candidates, fewer pieces together
      s.wave->most = wave.pieces > 1 ? wave.pieces / 2 : 1;
    }
  }
}

// Goes through what was found in a piece that is searched by itself: all of it, or its entries a block at a time.
template <class S>
__device__ __noinline__ void replay_alone(const ListSearch& search, Share share) {
  S s(search, block_memory());
  Replay replay = begin_replay(s);
  const Piece piece = piece_of(s.wave->alone, wave_of(s.wave->alone), 0);
  bool left = true;
  uint32_t from = piece.from;
  if (share.more == false) {
    if (s.control.flags == 0) {
      replay_piece(s, replay, 0, share.count);
    }
    from = piece.to;
    left = s.control.flags == 0 && from < s.wave->alone_end && from < s.opened[0].count;
  }
  // all lanes have read the piece before one of them describes the next one
  __syncwarp();
  set_alone(s, piece.list, from, false);
  const bool last = left == false && s.wave->next == wave_of(s.wave->words).pieces;
  const bool ended =
      s.control.flags != 0 || (last && s.wave->part_from == 0 && search_ends(s, replay));
  end_replay(s, replay);
  if (lane_id() < kListWave) {
    s.control.slot_counts[lane_id()] = 0;
  }
  if (lane_id() == 0) {
    s.wave->alone_left = left ? 1 : 0;
    s.wave->state = ended ? kSearchEnded : last ? kWaveEnded : kWaveOn;
  }
}

}  // namespace vamana
