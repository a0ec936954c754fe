// SONG's visited sets (Zhao, Tan and Li, 2020, section 4), and this project's buckets, over words of shared memory
// that are 0 at first. add() and has() are for lanes at once whose nodes differ, remove() for one lane.
#pragma once

#include <cstdint>

#include "vamana/visited.h"

namespace vamana {
namespace song {

enum SetKind { kBuckets, kOpenAddressing, kBloom, kCuckoo };

__device__ __forceinline__ uint32_t mix(uint32_t value) {
  value ^= value >> 16;
  value *= 0x85EBCA6Bu;
  value ^= value >> 13;
  value *= 0xC2B2AE35u;
  return value ^ value >> 16;
}

template <int KIND>
struct Visited;

// Forgets the node of a full bucket; see vamana/visited.h.
template <>
struct Visited<kBuckets> {
  uint32_t* words;
  uint32_t count;

  __device__ bool has(uint32_t ordinal) const { return place(ordinal) == kBucket; }

  __device__ bool add(uint32_t ordinal) {
    const uint32_t to = place(ordinal);
    if (to < kBucket) {
      atomicExch(words + visited_bucket(ordinal, count) + to, visited_mark(ordinal));
    }
    return to < kBucket;
  }

  __device__ void remove(uint32_t) {}

 private:
  __device__ uint32_t place(uint32_t ordinal) const {
    const uint4 loaded =
        *reinterpret_cast<const uint4*>(words + visited_bucket(ordinal, count));
    const uint32_t bucket[kBucket] = {loaded.x, loaded.y, loaded.z, loaded.w};
    return visited_place(bucket, ordinal);
  }
};

// Exact as long as no node is more than kProbes slots from its place; such a node is not remembered.
template <>
struct Visited<kOpenAddressing> {
  static constexpr uint32_t kProbes = 64;
  uint32_t* words;
  uint32_t count;

  __device__ bool has(uint32_t ordinal) const { return find(ordinal) < count; }

  __device__ bool add(uint32_t ordinal) {
    uint32_t at = home(ordinal);
    for (uint32_t i = 0; i < kProbes; i++) {
      const uint32_t old = atomicCAS(words + at, 0u, visited_mark(ordinal));
      if (old == 0 || old == visited_mark(ordinal)) {
        return old == 0;
      }
      at = (at + 1) & (count - 1);
    }
    return true;
  }

  // Moves later nodes of the run into the gap, so that no mark of a removed node is needed.
  __device__ void remove(uint32_t ordinal) {
    uint32_t gap = find(ordinal);
    if (gap == count) {
      return;
    }
    uint32_t at = gap;
    for (uint32_t i = 1; i < count; i++) {
      at = (at + 1) & (count - 1);
      const uint32_t mark = words[at];
      if (mark == 0) {
        break;
      }
      if (((at - home(mark - 1)) & (count - 1)) >= ((at - gap) & (count - 1))) {
        words[gap] = mark;
        gap = at;
      }
    }
    words[gap] = 0;
  }

 private:
  __device__ uint32_t home(uint32_t ordinal) const { return mix(ordinal) & (count - 1); }

  __device__ uint32_t find(uint32_t ordinal) const {
    uint32_t at = home(ordinal);
    for (uint32_t i = 0; i < kProbes; i++) {
      if (words[at] == visited_mark(ordinal)) {
        return at;
      }
      if (words[at] == 0) {
        return count;
      }
      at = (at + 1) & (count - 1);
    }
    return count;
  }
};

// A false positive loses a node. Nothing can be removed.
template <>
struct Visited<kBloom> {
  static constexpr uint32_t kHashes = 4;
  uint32_t* words;
  uint32_t count;

  __device__ bool has(uint32_t ordinal) const {
    bool all = true;
    for (uint32_t i = 0; i < kHashes; i++) {
      const uint32_t at = bit(ordinal, i);
      all &= (words[at / 32] >> at % 32 & 1u) != 0;
    }
    return all;
  }

  __device__ bool add(uint32_t ordinal) {
    bool all = true;
    for (uint32_t i = 0; i < kHashes; i++) {
      const uint32_t at = bit(ordinal, i);
      all &= (atomicOr(words + at / 32, 1u << at % 32) >> at % 32 & 1u) != 0;
    }
    return all == false;
  }

  __device__ void remove(uint32_t) {}

 private:
  __device__ uint32_t bit(uint32_t ordinal, uint32_t i) const {
    const uint32_t step = mix(ordinal ^ 0x9E3779B1u) | 1;
    return (mix(ordinal) + i * step) & (count * 32 - 1);
  }
};

// Fingerprints of 16 bits, four in each of two buckets that a node may be in. A false positive loses a node; a
// fingerprint that finds no place after kKicks moves is forgotten.
template <>
struct Visited<kCuckoo> {
  static constexpr uint32_t kKicks = 16;
  uint32_t* words;
  uint32_t count;

  __device__ bool has(uint32_t ordinal) const {
    const uint32_t print = fingerprint(ordinal);
    const uint32_t bucket = first(ordinal);
    return contains(bucket, print) || contains(other(bucket, print), print);
  }

  __device__ bool add(uint32_t ordinal) {
    uint32_t print = fingerprint(ordinal);
    uint32_t bucket = first(ordinal);
    if (contains(bucket, print) || contains(other(bucket, print), print)) {
      return false;
    }
    if (put(bucket, print)) {
      return true;
    }
    bucket = other(bucket, print);
    for (uint32_t i = 0; i < kKicks && put(bucket, print) == false; i++) {
      print = exchange(words + bucket * 2 + (i >> 1 & 1), (i & 1) * 16, print);
      bucket = other(bucket, print);
    }
    return true;
  }

  __device__ void remove(uint32_t ordinal) {
    const uint32_t print = fingerprint(ordinal);
    const uint32_t bucket = first(ordinal);
    if (erase(bucket, print) == false) {
      erase(other(bucket, print), print);
    }
  }

 private:
  __device__ uint32_t first(uint32_t ordinal) const { return mix(ordinal) & (count / 2 - 1); }

  __device__ static uint32_t fingerprint(uint32_t ordinal) {
    const uint32_t print = mix(ordinal ^ 0x9E3779B1u) >> 16;
    return print == 0 ? 1 : print;
  }

  __device__ uint32_t other(uint32_t bucket, uint32_t print) const {
    return (bucket ^ mix(print)) & (count / 2 - 1);
  }

  __device__ bool contains(uint32_t bucket, uint32_t print) const {
    const uint32_t a = words[bucket * 2];
    const uint32_t b = words[bucket * 2 + 1];
    return (a & 0xFFFFu) == print || a >> 16 == print || (b & 0xFFFFu) == print ||
           b >> 16 == print;
  }

  __device__ bool put(uint32_t bucket, uint32_t print) {
    for (uint32_t half = 0; half < 4; half++) {
      uint32_t* word = words + bucket * 2 + half / 2;
      const uint32_t shift = half % 2 * 16;
      uint32_t old = *word;
      while ((old >> shift & 0xFFFFu) == 0) {
        const uint32_t seen = atomicCAS(word, old, old | print << shift);
        if (seen == old) {
          return true;
        }
        old = seen;
      }
    }
    return false;
  }

  __device__ static uint32_t exchange(uint32_t* word, uint32_t shift, uint32_t print) {
    uint32_t old = *word;
    while (true) {
      const uint32_t seen = atomicCAS(word, old, (old & ~(0xFFFFu << shift)) | print << shift);
      if (seen == old) {
        return old >> shift & 0xFFFFu;
      }
      old = seen;
    }
  }

  __device__ bool erase(uint32_t bucket, uint32_t print) {
    for (uint32_t half = 0; half < 4; half++) {
      uint32_t* word = words + bucket * 2 + half / 2;
      const uint32_t shift = half % 2 * 16;
      if ((*word >> shift & 0xFFFFu) == print) {
        *word &= ~(0xFFFFu << shift);
        return true;
      }
    }
    return false;
  }
};

}  // namespace song
}  // namespace vamana
