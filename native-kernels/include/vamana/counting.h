// Places for merging by counting: a key's is the number of keys before it. Several lanes share the
// work for a key; each counts every parts-th key, from one of its own on.
#pragma once

#include <cstdint>

#include "vamana/order.h"
#include "vamana/platform.h"

namespace vamana {

// What a lane found for a new key.
struct Counted {
  uint32_t before;
  bool repeated;  // the worklist has the key, or an earlier new key is the same
};

// How many new keys, which are in any order, go before an entry of the worklist.
VAMANA_HD uint32_t count_before_entry(const uint64_t* keys, uint32_t count, uint64_t entry,
                                      uint32_t part, uint32_t parts) {
  uint32_t before = 0;
#if defined(__CUDA_ARCH__)
#pragma unroll 4
#endif
  for (uint32_t j = part; j < count; j += parts) {
    before += keys[j] < entry ? 1 : 0;
  }
  return before;
}

// How many entries and new keys go before the new key at an index. kNoKey is behind all others, and
// stands for a key that was dropped.
VAMANA_HD Counted count_before_new(const uint64_t* list, uint32_t size, const uint64_t* keys,
                                   uint32_t count, uint32_t index, uint32_t part, uint32_t parts) {
  const uint64_t key = keys[index];
  Counted counted = {0, false};
#if defined(__CUDA_ARCH__)
#pragma unroll 4
#endif
  for (uint32_t j = part; j < count; j += parts) {
    const uint64_t other = keys[j];
    counted.before += other < key ? 1 : 0;
    counted.repeated |= other == key && j < index;
  }
#if defined(__CUDA_ARCH__)
#pragma unroll 4
#endif
  for (uint32_t j = part; j < size; j += parts) {
    const uint64_t other = unmarked(list[j]);
    counted.before += other < key ? 1 : 0;
    counted.repeated |= other == key;
  }
  counted.repeated &= key != kNoKey;
  return counted;
}

}  // namespace vamana
