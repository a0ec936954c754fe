// Merging by all warps of a block: by ballots, and in sorted runs. That is more comparisons than sorting and searching
// make, but none waits for another.
#pragma once

#include <cstdint>

#include "cta.cuh"
#include "vamana/order.h"
#include "worklist.cuh"

namespace vamana {

// Counts of a lane in sorted runs.
struct Counted {
  uint32_t before;
  bool repeated;  // an earlier run has the key
};

// Keys of a run, which one warp sorts; the last run may be shorter.
constexpr uint32_t kRun = 32;

// Replaces a dropped new key in a run. It sorts behind all keys of nodes, and no two are equal.
__device__ __forceinline__ uint64_t dropped_key(uint32_t index) { return (kNoKey >> 32 << 32) | (index << 1); }

__device__ __forceinline__ bool is_dropped(uint64_t key) { return key >= dropped_key(0); }

__device__ __forceinline__ uint32_t run_length(uint32_t count, uint32_t run) {
  return count - run * kRun < kRun ? count - run * kRun : kRun;
}

// Counts the keys before a key in all runs but its own, and tells whether an earlier run has the key. Worklist
// entries belong to no run: own_run is then the number of runs.
__device__ __forceinline__ Counted place_in_runs(const uint64_t* keys, uint32_t count, uint64_t key, uint32_t own_run) {
  Counted counted = {0, false};
#pragma unroll 4
  for (uint32_t run = 0; run * kRun < count; run++) {
    const uint64_t* others = keys + run * kRun;
    const uint32_t length = run == own_run ? 0 : run_length(count, run);
    uint32_t before = 0;
#pragma unroll
    for (uint32_t step = kRun; step > 0; step >>= 1) {
      if (before + step <= length && others[before + step - 1] < key) {
        before += step;
      }
    }
    counted.before += before;
    counted.repeated |= run < own_run && before < length && others[before] == key;
  }
  return counted;
}

// All warps merge so many keys at most, of the worklist and new ones together: a thread has one.
template <int WARPS>
constexpr uint32_t kMaxTogether = WARPS * 32;

// More new keys are reduced to the nearest before they are merged, where the list has no place for all.
constexpr uint32_t kManyNew = 64;

// Most keys beyond the capacity of the list that may be left then.
constexpr uint32_t kFarSlack = 16;

// Merges new keys, in any order, into the worklist, of which the nearest `capacity` stay. Keys that the list has and
// repeated ones are dropped. Each warp sorts 32 new keys, then each thread searches for its key's place in the list and in
// the others' runs. All threads call it, after a barrier; it ends with one. Returns the list's new size, and changes the new
// keys. Out of line: walks begin with such steps, most others are short.
template <int WARPS>
__device__ __noinline__ uint32_t merge_by_runs(uint64_t* list, uint32_t size, uint32_t capacity,
                                               uint64_t* keys, uint32_t count) {
  const uint32_t runs = (count + kRun - 1) / kRun;
  const uint32_t e = threadIdx.x;
  uint32_t left = count;
  uint64_t own;
  uint32_t place;
#pragma unroll 1
  while (true) {
    if (warp_id() < runs) {
      sort_by_counting<1>(keys + warp_id() * kRun, run_length(count, warp_id()));
    }
    __syncthreads();
    own = kNoKey;
    place = 0;
    bool repeated = false;
    if (e < size) {
      own = list[e];
      place = e + place_in_runs(keys, count, own, runs).before;
    } else if (e < size + count) {
      own = keys[e - size];
      const uint32_t rank = rank_in_list(list, size, own);
      const Counted counted = place_in_runs(keys, count, own, (e - size) / kRun);
      place = rank + counted.before + (e - size) % kRun;
      repeated = is_dropped(own) == false &&
                 (counted.repeated || (rank < size && unmarked(list[rank]) == own) ||
                  ((e - size) % kRun > 0 && keys[e - size - 1] == own));
    }
    if (__syncthreads_or(repeated) == 0) {
      break;
    }
    // seldom: without them, everything is sorted again
    if (repeated) {
      keys[e - size] = dropped_key(e - size);
    }
    const uint32_t drops = __syncthreads_count(repeated);
    expect_dropped(drops);
    left -= drops;
  }
  if (e < size + count && is_dropped(own) == false && place < capacity) {
    list[place] = own;
  }
  __syncthreads();
  return size + left < capacity ? size + left : capacity;
}

// Does the same as merge_by_runs, with ballots. Each warp holds the list and all new keys, 32 in a register of its
// lanes. For every WARPS-th new key it counts the keys that go before, which gives the key's place. A new key sets the bit of
// its place in `taken`; entries take the places that are left, in their order. `taken` has ENTRIES + NEW words. They are zero
// at the call, and again after the barrier that follows the call.
template <int WARPS, int ENTRIES, int NEW>
__device__ __forceinline__ uint32_t merge_by_ballots(uint64_t* list, uint32_t size,
                                                     uint32_t capacity, uint64_t* keys,
                                                     uint32_t count, uint32_t* taken) {
  static_assert(ENTRIES <= WARPS && NEW <= WARPS, "a warp for each 32 places, a lane for each new key");
  uint64_t entries[ENTRIES];
#pragma unroll
  for (int r = 0; r < ENTRIES; r++) {
    const uint32_t i = r * 32 + lane_id();
    entries[r] = i < size ? list[i] : kNoKey;
  }
  const uint32_t index = warp_id() + lane_id() * WARPS;
  bool is_new = index < count;
  const uint64_t own = is_new ? keys[index] : kNoKey;
  uint32_t left = count;
  uint32_t place;
#pragma unroll 1
  while (true) {
    uint64_t others[NEW];
#pragma unroll
    for (int r = 0; r < NEW; r++) {
      const uint32_t i = r * 32 + lane_id();
      others[r] = i < count ? keys[i] : kNoKey;
    }
    uint32_t rank = 0;
    place = 0;
#pragma unroll 2
    for (uint32_t j = 0; warp_id() + j * WARPS < count; j++) {
      const uint64_t key = keys[warp_id() + j * WARPS];
      // the mark of an entry changes nothing: it is the key's own entry, or at least two away
      uint32_t entries_before = 0;
#pragma unroll
      for (int r = 0; r < ENTRIES; r++) {
        if (ENTRIES <= 2 || r * 32 < size) {
          entries_before += __popc(__ballot_sync(kAllLanes, entries[r] < key));
        }
      }
      uint32_t new_before = 0;
#pragma unroll
      for (int r = 0; r < NEW; r++) {
        if (NEW <= 2 || r * 32 < count) {
          new_before += __popc(__ballot_sync(kAllLanes, others[r] < key));
        }
      }
      rank = lane_id() == j ? entries_before : rank;
      place = lane_id() == j ? entries_before + new_before : place;
    }
    bool repeated = false;
    if (is_new) {
      const uint32_t bit = 1u << (place & 31);
      repeated = (atomicOr(taken + place / 32, bit) & bit) != 0 ||
                 (rank < size && unmarked(list[rank]) == own);
    }
    if (__syncthreads_or(repeated) == 0) {
      break;
    }
    // seldom: without them, everything is counted again
    const uint32_t drops = __syncthreads_count(repeated);
    expect_dropped(drops);
    left -= drops;
    if (repeated) {
      is_new = false;
      keys[index] = kNoKey;
    }
    if (threadIdx.x < ENTRIES + NEW) {
      taken[threadIdx.x] = 0;
    }
    __syncthreads();
  }
  if (warp_id() * 32 < capacity) {
    const uint32_t word = taken[warp_id()];
    uint32_t new_before = __popc(word & lanes_below());
#pragma unroll
    for (int i = 0; i < ENTRIES - 1; i++) {
      new_before += i < warp_id() ? __popc(taken[i]) : 0;
    }
    const uint32_t from = threadIdx.x - new_before;
    uint64_t entry = __shfl_sync(kAllLanes, entries[0], from & 31);
#pragma unroll
    for (int r = 1; r < ENTRIES; r++) {
      const uint64_t other = __shfl_sync(kAllLanes, entries[r], from & 31);
      entry = from / 32 == r ? other : entry;
    }
    if ((word >> lane_id() & 1u) == 0 && from < size && threadIdx.x < capacity) {
      list[threadIdx.x] = entry;
    }
  }
  if (is_new && place < capacity) {
    list[place] = own;
  }
  __syncthreads();
  if (threadIdx.x < ENTRIES + NEW) {
    taken[threadIdx.x] = 0;
  }
  return size + left < capacity ? size + left : capacity;
}

// Moves the new keys that the merged list may have a place for before the others, which are many if the list is short:
// halves the range of distances until those up to its middle are as many as the list holds, or a few more. All threads
// call it, after a barrier; it ends with one. There are no more keys than threads, but more than the list holds. Returns the
// upper half of a key, up to which new keys come first; `counts`, a word of shared memory, has their number in its lower
// half.
template <int WARPS>
__device__ __forceinline__ uint32_t near_first(const uint64_t* list, uint32_t size,
                                               uint32_t capacity, uint64_t* keys, uint32_t count,
                                               uint32_t* counts) {
  const uint32_t e = threadIdx.x;
  const bool is_new = e >= size && e < size + count;
  const uint64_t own = e < size ? list[e] : is_new ? keys[e - size] : kNoKey;
  const uint32_t distance = static_cast<uint32_t>(own >> 32);
  // up to `high` there are as many as the list holds, and up to `low` fewer, but perhaps at first
  uint32_t low = size > 0 ? static_cast<uint32_t>(list[0] >> 32) : 0;
  uint32_t high = size == capacity ? static_cast<uint32_t>(list[size - 1] >> 32) : 0xFFFFFFFEu;
  if (e == 0) {
    *counts = 0;
  }
  uint32_t middle = low;
  while (true) {
    const uint32_t near = __syncthreads_count(distance <= middle);
    if (near >= capacity) {
      high = middle;
    } else {
      low = middle;
    }
    if ((near >= capacity && near <= capacity + kFarSlack) || high - low <= 1 || high <= low) {
      break;
    }
    middle = low + (high - low) / 2;
  }
  const bool first = is_new && distance <= high;
  const uint32_t firsts = __ballot_sync(kAllLanes, first);
  const uint32_t others = __ballot_sync(kAllLanes, is_new && first == false);
  uint32_t base = 0;
  if (lane_id() == 0) {
    base = atomicAdd(counts, static_cast<uint32_t>(__popc(firsts) | __popc(others) << 16));
  }
  base = __shfl_sync(kAllLanes, base, 0);
  if (first) {
    keys[(base & 0xFFFF) + __popc(firsts & lanes_below())] = own;
  } else if (is_new) {
    keys[count - 1 - (base >> 16) - __popc(others & lanes_below())] = own;
  }
  __syncthreads();
  return high;
}

// merge_new_keys out of line: long lists need it, and its code would be in the way of short ones'.
template <int WARPS>
__device__ __noinline__ uint32_t merge_long(uint64_t* list_keys, uint32_t size, uint32_t capacity,
                                            uint64_t* keys, uint32_t* ranks, uint32_t count,
                                            uint32_t* shared_count) {
  Worklist list = {list_keys, size, 0};
  merge_new_keys<WARPS>(list, capacity, keys, ranks, count, shared_count);
  return list.size;
}

// Merges many new keys, or into a list that is not short, by eight or more warps; out of line, since most merges are of
// few keys into a short list. As merge_together, but returns the list's new size.
template <int WARPS>
__device__ __noinline__ uint32_t merge_many(uint64_t* list, uint32_t size, uint32_t capacity,
                                            uint64_t* keys, uint32_t* ranks, uint32_t count,
                                            uint32_t* shared_count, uint32_t* taken) {
  if (size + count > kMaxTogether<WARPS>) {
    return merge_long<WARPS>(list, size, capacity, keys, ranks, count, shared_count);
  }
  uint32_t others = 0;
  uint32_t near = 0;
  if (count > kManyNew && size + count > capacity) {
    near = near_first<WARPS>(list, size, capacity, keys, count, shared_count);
    others = count - (*shared_count & 0xFFFF);
    count -= others;
  }
  if (capacity <= 128 && count <= 128) {
    size = merge_by_ballots<WARPS, 4, 4>(list, size, capacity, keys, count, taken);
  } else if (capacity <= 128 && count <= 256) {
    size = merge_by_ballots<WARPS, 4, 8>(list, size, capacity, keys, count, taken);
  } else {
    size = merge_by_runs<WARPS>(list, size, capacity, keys, count);
  }
  // seldom: some of the near keys were repeated, so that the list may have a place for others
  if (others > 0 && (size < capacity || list[capacity - 1] >> 32 > near)) {
    __syncthreads();
    size = merge_by_runs<WARPS>(list, size, capacity, keys + count, others);
  }
  return size;
}

// Merges new keys in whichever way is fast; as merge_by_runs. ranks have room for count words, shared_count is a word of
// shared memory for its use, and `taken` is what merge_by_ballots needs.
template <int WARPS>
__device__ __forceinline__ void merge_together(Worklist& list, uint32_t capacity, uint64_t* keys,
                                               uint32_t* ranks, uint32_t count,
                                               uint32_t* shared_count, uint32_t* taken) {
  list.cursor = 0;
  if (count == 0) {
    __syncthreads();
  } else if constexpr (WARPS >= 8) {
    if (WARPS == 16 && capacity <= 64 && count <= 64) {
      list.size = merge_by_ballots<WARPS, 2, 2>(list.keys, list.size, capacity, keys, count, taken);
    } else {
      list.size = merge_many<WARPS>(list.keys, list.size, capacity, keys, ranks, count,
                                    shared_count, taken);
    }
  } else {
    // blocks of few warps come here when they re-rank, which is seldom worth more registers
    list.size = merge_long<WARPS>(list.keys, list.size, capacity, keys, ranks, count, shared_count);
  }
}

}  // namespace vamana
