// The part of a wave that one block searches: it opens the lists of its pieces, estimates all entries, and gives
// what the limit leaves open exact scores.
#pragma once

#include <cstdint>

#include "cta.cuh"
#include "exact.cuh"
#include "lists/residual.cuh"
#include "lists/scan.cuh"
#include "lists/score.cuh"
#include "lists/state.cuh"

namespace vamana {

// A wave, as its words describe it.
struct Wave {
  uint32_t pieces;
  uint32_t blocks;  // piece p is the block's whose number is p % blocks
  uint32_t parts;   // leading pieces that are parts of one list
  bool to_end;      // whether the only part has all further entries of its list
};

// Entries from..to-1 of a list, or fewer if it has fewer. `from` is a multiple of a block of heads.
struct Piece {
  uint32_t list;
  uint32_t from;
  uint32_t to;
};

// Result of a block's pieces.
struct Share {
  uint32_t pieces;
  uint32_t count;  // candidates with exact scores
  bool more;       // whether a piece had more candidates than there is room for
};

__device__ __forceinline__ Wave wave_of(const uint32_t* words) {
  const uint32_t shape = words[kWaveShape];
  return {shape & 0xFFu, shape >> 8 & 0xFFu, shape >> 16 & 0xFFu, (shape & kWaveToEnd) != 0};
}

__device__ __forceinline__ uint32_t wave_shape(uint32_t pieces, uint32_t blocks, uint32_t parts) {
  return pieces | blocks << 8 | parts << 16;
}

__device__ __forceinline__ Piece piece_of(const uint32_t* words, const Wave& wave, uint32_t piece) {
  const uint32_t list = words[piece / 2] >> (piece % 2 * 16) & 0xFFFFu;
  if (piece >= wave.parts) {
    return {list, 0, 0xFFFFFFFFu};
  }
  const uint32_t from = words[kWavePart] + piece * kListBlock;
  return {list, from, wave.to_end ? 0xFFFFFFFFu : from + kListBlock};
}

// Candidates that there is room for of each of a block's pieces.
__device__ __forceinline__ uint32_t wave_room(uint32_t pieces) {
  constexpr uint32_t kMost = kWaveCandidates / kListCandidates;
  constexpr uint32_t kHalf = kListWave / 2;
  return pieces <= kMost ? kListCandidates : kWaveCandidates / (pieces <= kHalf ? kHalf : kListWave);
}

// Candidates of a piece, none if there was no room for them.
template <class S>
__device__ __forceinline__ uint32_t slot_count(const S& s, uint32_t slot, uint32_t room) {
  const uint32_t count = s.control.slot_counts[slot];
  return count <= room ? count : 0;
}

// Opens the list of a piece, by one warp.
template <class S>
__device__ __forceinline__ void open_slot(S& s, uint32_t slot, const Piece& piece) {
  const uint32_t list = piece.list;
  const Lists& lists = s.control.lists;
  const float* centroid = reinterpret_cast<const float*>(lists.centroids) +
                          static_cast<uint64_t>(list) * lists.padded;
  const uint4 facts = __ldg(reinterpret_cast<const uint4*>(lists.facts) + list);
  const auto component = [&s, centroid](uint32_t d) { return s.rotated[d] - __ldg(centroid + d); };
  OpenList open;
  open.list = list;
  open.count = facts.x;
  open.places = list_places(facts.x);
  open.from = piece.from;
  open.to = piece.to < facts.x ? piece.to : facts.x;
  open.address = list_address(lists, list);
  float largest = 0;
  float squares = 0;
#pragma unroll 4
  for (uint32_t d = lane_id(); d < lists.padded; d += 32) {
    const float r = component(d);
    largest = fmaxf(largest, fabsf(r));
    squares = fmaf(r, r, squares);
  }
  squares = warp_sum(squares);
  if constexpr (S::kQuantized) {
    open.heads = quantized_heads(lists, squares, s.rotated_norm2, __uint_as_float(facts.z));
    if (lane_id() == 0) {
      s.opened[slot] = open;
    }
    return;
  }
  largest = warp_max(largest);
  const uint32_t words = lists.padded / 32;
  const ListStep step = list_step(largest, kListPlanes);
  const int32_t sum = split_residual<kListPlanes>(
      lists.padded, 0, 32, step.scale, s.planes + slot * words * kListPlanes, component);
  open.more_sum = 0;
  open.more_step = 0;
  if (lists.bits > 1) {
    const ListStep more = list_step(largest, kListMorePlanes);
    open.more_sum = split_residual<kListMorePlanes>(
        lists.padded, 0, 32, more.scale, s.more + slot * words * kListMorePlanes, component);
    open.more_step = more.step;
  }
  open.length = sqrtf(squares);
  open.heads = {
      list_base(lists.estimates, squares, s.rotated_norm2, __uint_as_float(facts.z)), step.step,
      static_cast<float>(sum) * 0.5f, list_margin(step.step, squares, lists.padded)};
  if (lane_id() == 0) {
    s.opened[slot] = open;
  }
}

// Whether the filter accepts an entry. An ordinal out of range is not one of the filter's.
template <class S>
__device__ __forceinline__ bool filter_accepts(S& s, const ListColumns& columns, uint32_t at) {
  if (s.control.item.accepted == 0) {
    return true;
  }
  const uint32_t ordinal = __ldg(columns.numbers + at);
  if (ordinal >= s.control.segment.size) {
    atomicOr(&s.control.flags, static_cast<uint32_t>(kCorrupt));
    return false;
  }
  return accepts_entry(s, ordinal);
}

// Estimates the entries of all pieces, a warp 32 at a time. More candidates of a piece than there is room for are
// counted only. Ends with a barrier.
template <class S>
__device__ __forceinline__ void scan_slots(S& s, uint32_t slots, float limit) {
  const Lists& lists = s.control.lists;
  const uint32_t room = wave_room(slots);
  const uint32_t words = lists.padded / 32;
  uint32_t unit = warp_id();
#pragma unroll 1
  for (uint32_t slot = 0; slot < slots; slot++) {
    const OpenList& open = s.opened[slot];
    const uint4* planes = reinterpret_cast<const uint4*>(s.planes + slot * words * kListPlanes);
    const uint32_t units = open.to > open.from ? (open.to - open.from + 31) / 32 : 0;
    const uint32_t begin = slot * room;
#pragma unroll 1
    for (; unit < units; unit += S::kWarps) {
      const uint32_t base = open.from + unit * 32;
      const uint32_t i = base + lane_id();
      const ListColumns columns =
          list_columns(lists, open.address, open.places, base / kListBlock * kListBlock);
      const uint32_t at = i % kListBlock;
      ListEstimate estimate = {0, 0};
      bool keep = i < open.to;
      if (keep) {
        estimate = head_estimate(s, open.heads, columns, at, planes);
        keep = estimate.bound <= limit && filter_accepts(s, columns, at);
        if (S::kQuantized == false && keep && lists.bits > 1) {
          estimate =
              refine(lists, open, columns, i, s.more + slot * words * kListMorePlanes);
          keep = estimate.bound <= limit;
        }
      }
      const uint32_t place = append_slot(keep, &s.control.slot_counts[slot]);
      if (keep && place < room) {
        s.candidates[begin + place] =
            static_cast<uint64_t>(sortable(estimate.distance)) << 32 | i;
        s.bounds[begin + place] = estimate.bound;
      }
    }
    unit -= units;
  }
  cta_sync<S::kWarps>();
}

// Puts ordinals and bounds of candidates in the order of pieces and estimates. Ends with a barrier.
template <class S>
__device__ __forceinline__ void rank_slots(S& s, uint32_t slots) {
  const uint32_t room = wave_room(slots);
  for (uint32_t place = threadIdx.x; place < slots * room; place += S::kThreads) {
    const uint32_t slot = place / room;
    const uint32_t begin = slot * room;
    const uint32_t count = slot_count(s, slot, room);
    if (place - begin >= count) {
      continue;
    }
    const uint64_t key = s.candidates[place];
    const OpenList& open = s.opened[slot];
    const uint32_t i = static_cast<uint32_t>(key);
    const ListColumns columns = list_columns(s.control.lists, open.address, open.places,
                                             i / kListBlock * kListBlock);
    // asked for before the rank is known
    const uint32_t ordinal = __ldg(columns.numbers + i % kListBlock);
    uint32_t rank = 0;
    for (uint32_t other = 0; other < slot; other++) {
      rank += slot_count(s, other, room);
    }
    for (uint32_t other = begin; other < begin + count; other++) {
      rank += s.candidates[other] < key ? 1u : 0u;
    }
    const bool valid = valid_entry(s, open, columns, i, ordinal);
    if (valid == false) {
      atomicOr(&s.control.flags, static_cast<uint32_t>(kCorrupt));
    }
    s.ids[rank] = valid ? ordinal : 0;
    s.sorted[rank] = s.bounds[place];
  }
  cta_sync<S::kWarps>();
}

// Searches the pieces of a wave that are a block's, and is no part of its callers, which so have registers for
// their own and one copy of its instructions. Then s.candidates has the keys and s.sorted the bounds of all
// candidates, in the order of pieces and estimates. Begins behind a barrier and ends with one.
template <class S>
__device__ __noinline__ Share search_share(const ListSearch& search, const uint32_t* words,
                                           uint32_t member) {
  S s(search, block_memory());
  const Wave wave = wave_of(words);
  if (member >= wave.blocks || member >= wave.pieces) {
    return {0, 0, false};
  }
  Share share = {(wave.pieces - member + wave.blocks - 1) / wave.blocks, 0, false};
  if (warp_id() < share.pieces) {
    open_slot(s, warp_id(), piece_of(words, wave, member + warp_id() * wave.blocks));
  }
  cta_sync<S::kWarps>();
  scan_slots(s, share.pieces, __uint_as_float(words[kWaveLimit]));
  const uint32_t room = wave_room(share.pieces);
  for (uint32_t slot = 0; slot < share.pieces; slot++) {
    share.more = share.more || s.control.slot_counts[slot] > room;
    share.count += slot_count(s, slot, room);
  }
  rank_slots(s, share.pieces);
  const Segment& segment = s.control.segment;
  const Rows rows = {reinterpret_cast<const uint8_t*>(segment.raw), segment.raw_stride,
                     segment.dimension, nullptr, ((segment.raw | segment.raw_stride) & 15u) == 0};
  exact_sums<S::kFormat, S::kWarps, Chunk<S::kFormat>::kLoads>(
      rows, segment.similarity == kEuclidean, s.query, up16(segment.dimension), s.ids, share.count,
      StoreKeys<S>{s, s.candidates});
  cta_sync<S::kWarps>();
  return share;
}

}  // namespace vamana
