// Places of keys in the merged worklist: a key's is the number of keys before it. By counting, a lane compares its key with
// all others. In sorted runs, each lane searches.
#pragma once

#include <cstdint>

#include "vamana/order.h"
#include "vamana/platform.h"

namespace vamana {

// Counts of a lane in one word: keys before a given key in the lower half, keys of its node in the upper half.
VAMANA_HD uint32_t found_before(uint32_t found) { return found & 0xFFFFu; }
VAMANA_HD uint32_t found_same(uint32_t found) { return found >> 16; }

// Counts of a lane in sorted runs.
struct Counted {
  uint32_t before;
  bool repeated;  // an earlier run has the key
};

// Keys of a run, which one warp sorts; the last run may be shorter.
constexpr uint32_t kRun = 32;

// Replaces a dropped new key in a run. It sorts behind all keys of nodes, and no two are equal.
VAMANA_HD uint64_t dropped_key(uint32_t index) { return (kNoKey >> 32 << 32) | (index << 1); }

VAMANA_HD bool is_dropped(uint64_t key) { return key >= dropped_key(0); }

VAMANA_HD uint32_t run_length(uint32_t count, uint32_t run) {
  return count - run * kRun < kRun ? count - run * kRun : kRun;
}

// Counts the keys before a key in all runs but its own, and tells whether an earlier run has the key. Worklist
// entries belong to no run: own_run is then the number of runs.
VAMANA_HD Counted place_in_runs(const uint64_t* keys, uint32_t count, uint64_t key, uint32_t own_run) {
  Counted counted = {0, false};
#if defined(__CUDA_ARCH__)
#pragma unroll 4
#endif
  for (uint32_t run = 0; run * kRun < count; run++) {
    const uint64_t* others = keys + run * kRun;
    const uint32_t length = run == own_run ? 0 : run_length(count, run);
    uint32_t before = 0;
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
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

// Counts, among keys in any order, keys before a key and keys of its node. Ignores marks. kNoKey has no node.
VAMANA_HD uint32_t count_keys(const uint64_t* keys, uint32_t count, uint64_t key) {
  uint32_t found = 0;
#if defined(__CUDA_ARCH__)
#pragma unroll 4
#endif
  for (uint32_t j = 0; j < count; j++) {
    const uint64_t other = unmarked(keys[j]);
    found += other < key ? 1 : 0;
    found += key_ordinal(other) == key_ordinal(key) ? 1u << 16 : 0;
  }
  return found;
}

// Whether an earlier new key is the same.
VAMANA_HD bool is_again(const uint64_t* keys, uint32_t index) {
  bool again = false;
  for (uint32_t j = 0; j < index && again == false; j++) {
    again = keys[j] == keys[index];
  }
  return again;
}

}  // namespace vamana
