// Search of several lists at once, for a block that has a multiprocessor to itself. A wave of lists is
// estimated with the limit that the lists before it leave, and all of its candidates get exact scores together.
// Then one warp goes through the scores in the order of lists and estimates, and does what a search of one list
// after the other does: what that would not have scored is not looked at, and what comes after its end neither.
// So the answers are the same, and the waits for memory of several lists are one.
#pragma once

#include <cstdint>

#include "cta.cuh"
#include "exact.cuh"
#include "lists/order.cuh"
#include "lists/residual.cuh"
#include "lists/scan.cuh"
#include "lists/score.cuh"
#include "lists/state.cuh"

namespace vamana {

// The warp that takes the next lists while the first one goes through the scores.
constexpr uint32_t kPicker = 1;

// End of a range that has all entries of its lists.
constexpr uint32_t kWholeLists = 0xFFFFFFFFu;

// Candidates that there is room for of each of so many lists.
__device__ __forceinline__ uint32_t wave_room(uint32_t lists) {
  constexpr uint32_t kMost = kWaveCandidates / kListCandidates;
  constexpr uint32_t kHalf = kListWave / 2;
  return lists <= kMost ? kListCandidates : kWaveCandidates / (lists <= kHalf ? kHalf : kListWave);
}

// Lists of the wave behind one of so many lists, of which none had more than `candidates`: up to four times as
// many, if half of the room for each list would have done. Later lists have fewer candidates.
__device__ __forceinline__ uint32_t wave_growth(uint32_t lists, uint32_t candidates, uint32_t most) {
  uint32_t grown = 4 * lists < most ? 4 * lists : most;
  while (grown > lists && 2 * candidates > wave_room(grown)) {
    grown = grown / 2 > lists ? grown / 2 : lists;
  }
  return grown;
}

// Finds the nearest list of each group. Ends with a barrier.
template <class S>
__device__ __forceinline__ void group_lists(S& s) {
  const uint32_t lists = s.control.lists.lists;
  for (uint32_t group = warp_id(); group * kListsOfGroup < lists; group += S::kWarps) {
    const uint32_t from = group * kListsOfGroup;
    const uint32_t end = from + kListsOfGroup;
    const uint64_t nearest = nearest_of(s, from, end < lists ? end : lists);
    if (lane_id() == 0) {
      s.groups[group] = nearest;
    }
  }
  cta_sync<S::kWarps>();
}

// The nearest list of the groups that a lane of the picker watches.
template <class S>
__device__ __forceinline__ uint64_t watched_list(const S& s) {
  uint64_t nearest = kNoKey;
  for (uint32_t group = lane_id(); group * kListsOfGroup < s.control.lists.lists; group += 32) {
    nearest = s.groups[group] < nearest ? s.groups[group] : nearest;
  }
  return nearest;
}

// Takes up to so many of the nearest lists that are left, by one warp.
template <class S>
__device__ __forceinline__ void pick_lists(S& s, uint32_t wanted) {
  const uint32_t lists = s.control.lists.lists;
  uint64_t mine = watched_list(s);
  uint32_t count = 0;
#pragma unroll 1
  for (; count < wanted; count++) {
    const uint64_t nearest = warp_min(mine);
    if (static_cast<uint32_t>(nearest >> 32) == kUnusedSlot) {
      break;
    }
    const uint32_t list = static_cast<uint32_t>(nearest);
    if (lane_id() == 0) {
      s.near[list] = kUnusedSlot;
      s.control.picked[count] = list;
    }
    __syncwarp();
    const uint32_t group = list / kListsOfGroup;
    const uint32_t end = (group + 1) * kListsOfGroup;
    const uint64_t left = nearest_of(s, group * kListsOfGroup, end < lists ? end : lists);
    if (lane_id() == 0) {
      s.groups[group] = left;
    }
    __syncwarp();
    if (lane_id() == group % 32) {
      mine = watched_list(s);
    }
  }
  if (lane_id() == 0) {
    s.control.picked_count = count;
  }
}

// Opens a list as one of the wave, by one warp.
template <class S>
__device__ __forceinline__ void open_slot(S& s, uint32_t slot, uint32_t list) {
  const Lists& lists = s.control.lists;
  const float* centroid = reinterpret_cast<const float*>(lists.centroids) +
                          static_cast<uint64_t>(list) * lists.padded;
  const uint4 facts = __ldg(reinterpret_cast<const uint4*>(lists.facts) + list);
  const auto component = [&s, centroid](uint32_t d) { return s.rotated[d] - __ldg(centroid + d); };
  OpenList open;
  open.list = list;
  open.count = facts.x;
  open.places = list_places(facts.x);
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

// The entries of a wave that are estimated together.
struct WaveRange {
  uint32_t first;  // opened lists first..last-1
  uint32_t last;
  uint32_t from;   // of each its entries from..to-1; `from` a multiple of a block
  uint32_t to;
};

// Whether the filter accepts an entry. An ordinal out of range is not one of the filter's.
template <class S>
__device__ __forceinline__ bool filter_accepts(S& s, const ListColumns& columns, uint32_t at) {
  if (s.control.item.accepted == 0) {
    return true;
  }
  const uint32_t ordinal = __ldg(columns.numbers + at);
  if (ordinal >= s.control.segment.size) {
    s.control.flags = kCorrupt;
    return false;
  }
  return accepts_entry(s, ordinal);
}

// Estimates entries, a warp 32 of a list at a time. More candidates of a list than there is room for are
// counted only.
template <class S>
__device__ __forceinline__ void scan_wave(S& s, const WaveRange& range) {
  const Lists& lists = s.control.lists;
  const uint32_t room = wave_room(range.last - range.first);
  const uint32_t words = lists.padded / 32;
  const float limit = s.control.limit;
  uint32_t unit = warp_id();
#pragma unroll 1
  for (uint32_t slot = range.first; slot < range.last; slot++) {
    const OpenList open = s.opened[slot];
    const uint4* planes = reinterpret_cast<const uint4*>(s.planes + slot * words * kListPlanes);
    const uint32_t to = range.to < open.count ? range.to : open.count;
    const uint32_t units = to > range.from ? (to - range.from + 31) / 32 : 0;
    const uint32_t begin = (slot - range.first) * room;
#pragma unroll 1
    for (; unit < units; unit += S::kWarps) {
      const uint32_t base = range.from + unit * 32;
      const uint32_t i = base + lane_id();
      const ListColumns columns =
          list_columns(lists, open.address, open.places, base / kListBlock * kListBlock);
      const uint32_t at = i % kListBlock;
      ListEstimate estimate = {0, 0};
      bool keep = i < to;
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

// Puts ordinals and bounds of candidates in the order of lists and estimates. Ends with a barrier.
template <class S>
__device__ __forceinline__ void rank_wave(S& s, const WaveRange& range) {
  const uint32_t room = wave_room(range.last - range.first);
  for (uint32_t place = threadIdx.x; place < (range.last - range.first) * room;
       place += S::kThreads) {
    const uint32_t slot = range.first + place / room;
    const uint32_t begin = place / room * room;
    const uint32_t count = s.control.slot_counts[slot];
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
    for (uint32_t other = range.first; other < slot; other++) {
      rank += s.control.slot_counts[other];
    }
    for (uint32_t other = begin; other < begin + count; other++) {
      rank += s.candidates[other] < key ? 1u : 0u;
    }
    const bool valid = valid_entry(s, open, columns, i, ordinal);
    if (valid == false) {
      s.control.flags = kCorrupt;
    }
    s.ids[rank] = valid ? ordinal : 0;
    s.sorted[rank] = s.bounds[place];
  }
  cta_sync<S::kWarps>();
}

// Whether no further list is searched, by the first warp.
template <class S>
__device__ __forceinline__ bool search_ends(const S& s) {
  if (s.control.visited >= s.control.item.visit_limit || s.control.flags != 0) {
    return true;
  }
  return s.limit < infinite() && s.probed >= kListProbes &&
         list_ends(s.probed, s.control.all_hits - s.history[list_window(s.probed)], s.width);
}

// Takes the scores of a list's candidates at positions from..end-1, as score_candidates would; by the first
// warp.
template <class S>
__device__ __forceinline__ void replay_list(S& s, uint32_t from, uint32_t end) {
  while (from < end) {
    uint32_t taken = 0;
    while (from < end && taken < kListScored) {
      const uint32_t position = from + lane_id();
      const bool keep = position < end && s.sorted[position] <= s.limit;
      const uint32_t kept = __ballot_sync(kAllLanes, keep);
      const uint32_t slot = taken + __popc(kept & lanes_below());
      if (keep && slot < kListScored) {
        s.keys[slot] = s.candidates[position];
      }
      const uint32_t last = __ballot_sync(kAllLanes, keep && slot == kListScored - 1);
      from += last != 0 ? static_cast<uint32_t>(__ffs(static_cast<int>(last))) : 32;
      taken += __popc(kept);
    }
    const uint32_t left = s.control.item.visit_limit - s.control.visited;
    taken = taken < kListScored ? taken : kListScored;
    taken = taken < left ? taken : left;
    __syncwarp();
    if (taken == 0) {
      return;
    }
    keep_best<1>(s, taken);
    __syncwarp();
  }
}

// Goes through the scores of a wave, by the first warp. `begins` and `finishes` say whether the range has the
// first and the last entries of its lists.
template <class S>
__device__ __forceinline__ void replay_wave(S& s, const WaveRange& range, bool begins,
                                            bool finishes) {
  s.best_size = s.control.best_size;
  s.limit = s.control.limit;
  s.probed = s.control.probed;
  bool ended = false;
  uint32_t position = 0;
  for (uint32_t slot = range.first; slot < range.last && ended == false; slot++) {
    if (begins && search_ends(s)) {
      ended = true;
      break;
    }
    if (begins) {
      if (lane_id() == 0) {
        s.history[s.probed] = s.control.all_hits;
      }
      s.probed++;
      __syncwarp();
    }
    const uint32_t end = position + s.control.slot_counts[slot];
    replay_list(s, position, end);
    position = end;
  }
  ended = ended || (finishes && search_ends(s));
  __syncwarp();
  if (lane_id() < kListWave) {
    s.control.slot_counts[lane_id()] = 0;
  }
  if (lane_id() == 0) {
    s.control.best_size = s.best_size;
    s.control.limit = s.limit;
    s.control.probed = s.probed;
    s.control.ended = ended ? 1 : 0;
  }
}

// Estimates entries and takes the scores of what the bound leaves open. With `picks`, another warp picks the next
// lists meanwhile. If a list has more candidates than there is room for, it changes nothing and returns false.
// Begins behind a barrier and ends with one.
template <class S>
__device__ __forceinline__ bool search_range(S& s, const WaveRange& range, bool begins,
                                             bool finishes, bool picks) {
  // how many entries of whole lists there are says nothing of later lists
  const bool whole = s.control.limit == infinite() && s.control.item.accepted == 0;
  scan_wave(s, range);
  const uint32_t room = wave_room(range.last - range.first);
  uint32_t count = 0;
  uint32_t largest = 0;
  for (uint32_t slot = range.first; slot < range.last; slot++) {
    const uint32_t own = s.control.slot_counts[slot];
    count += own;
    largest = own > largest ? own : largest;
  }
  if (largest > room) {
    cta_sync<S::kWarps>();
    if (threadIdx.x < kListWave) {
      s.control.slot_counts[threadIdx.x] = 0;
    }
    cta_sync<S::kWarps>();
    return false;
  }
  rank_wave(s, range);
  const Segment& segment = s.control.segment;
  const Rows rows = {reinterpret_cast<const uint8_t*>(segment.raw), segment.raw_stride,
                     segment.dimension, nullptr, ((segment.raw | segment.raw_stride) & 15u) == 0};
  exact_sums<S::kFormat, S::kWarps, Chunk<S::kFormat>::kLoads>(
      rows, segment.similarity == kEuclidean, s.query, up16(segment.dimension), s.ids, count,
      StoreKeys<S>{s, s.candidates});
  cta_sync<S::kWarps>();
  if (warp_id() == 0) {
    replay_wave(s, range, begins, finishes);
  } else if (warp_id() == kPicker && picks) {
    pick_lists(s, wave_growth(s.control.picked_count, whole ? 0 : largest, s.control.most));
  }
  cta_sync<S::kWarps>();
  return true;
}

// What to search after a range: the rest of its list or the next one alone, if the wave had too many candidates;
// otherwise nothing, which is an empty range.
template <class S>
__device__ __forceinline__ WaveRange next_range(const S& s, const WaveRange& range, bool searched,
                                                uint32_t opened) {
  WaveRange next = range;
  if (range.last - range.first > 1) {
    // one list after the other, beginning with the first
    next.first = searched ? opened : 0;
  } else if (searched && range.to >= s.opened[range.first].count) {
    next.first = range.last;
  } else {
    next.from = searched ? range.to : range.from;
    next.to = searched ? kWholeLists : next.from + kListCandidates;
    return next;
  }
  next.last = next.first < opened ? next.first + 1 : opened;
  next.from = 0;
  next.to = kWholeLists;
  return next;
}

// Searches lists, nearest first, until the last ones have brought few hits: first one, then up to four times as
// many each time. Returns how many were searched.
template <class S>
__device__ __forceinline__ uint32_t search_waves(S& s) {
  group_lists(s);
  if (warp_id() == kPicker) {
    pick_lists(s, 1);
  }
  if (threadIdx.x == 0) {
    s.control.best_size = 0;
    s.control.limit = infinite();
    s.control.probed = 0;
    s.control.ended = 0;
    s.control.most = kListWave;
  }
  cta_sync<S::kWarps>();
  while (s.control.ended == 0 && s.control.picked_count > 0) {
    const uint32_t opened = s.control.picked_count;
    if (warp_id() < opened) {
      open_slot(s, warp_id(), s.control.picked[warp_id()]);
    }
    cta_sync<S::kWarps>();
    WaveRange range = {0, opened, 0, kWholeLists};
    if (s.control.limit == infinite() && s.control.item.accepted == 0) {
      // all entries are candidates
      range = {0, 1, 0, kListCandidates};
    }
    while (range.first < opened && s.control.ended == 0) {
      const bool finishes = range.last - range.first > 1 ||
                            range.to >= s.opened[range.first].count;
      const bool searched = search_range(s, range, range.from == 0, finishes,
                                         finishes && range.last == opened);
      if (searched == false && range.last - range.first > 1 && threadIdx.x == 0) {
        // with so many candidates, fewer lists together
        s.control.most = opened / 2;
      }
      range = next_range(s, range, searched, opened);
    }
  }
  s.best_size = s.control.best_size;
  return s.control.probed;
}

}  // namespace vamana
