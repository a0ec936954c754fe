// Random samples of rows: which of their elements bound the wanted one, and what a row of Sample
// Select has in scratch.
#pragma once

#include <cmath>
#include <cstdint>

#include "vamana/platform.h"
#include "vamana/select/pair.h"

namespace vamana {
namespace select {

constexpr uint32_t kSample = 4096;

// A row's state in scratch; capacity pairs follow it, 256-byte aligned.
struct SampleState {
  uint64_t low;         // pairs below are among the wanted ones
  uint64_t high;        // those from here on are not
  uint32_t below;       // pairs below low
  uint32_t candidates;  // pairs from low on and below high; those beyond capacity were not kept
  uint32_t emitted;     // results written
  uint32_t reserved[9];
};

static_assert(sizeof(SampleState) == 64, "SampleState");

VAMANA_HD uint64_t sample_row_bytes(uint32_t capacity) {
  return 256 + ((static_cast<uint64_t>(capacity) * 8 + 255) & ~255ull);
}

// The column of element i of a sample: one at random from each of as many equal ranges.
VAMANA_HD uint32_t sample_column(uint32_t i, uint32_t sample, uint32_t n, uint32_t seed) {
  uint32_t mixed = (i + seed) * 0x9E3779B1u;
  mixed = (mixed ^ (mixed >> 16)) * 0x85EBCA6Bu;
  mixed = (mixed ^ (mixed >> 13)) * 0xC2B2AE35u;
  mixed ^= mixed >> 16;
  const uint32_t begin = static_cast<uint32_t>(static_cast<uint64_t>(i) * n / sample);
  const uint32_t end = static_cast<uint32_t>(static_cast<uint64_t>(i + 1) * n / sample);
  return begin + static_cast<uint32_t>((static_cast<uint64_t>(mixed) * (end - begin)) >> 32);
}

// A place in the sorted sample that the k-th of n lies before but for one row in 50,000 or so: the
// number of sampled elements below it has nearly a Poisson distribution.
VAMANA_HD uint32_t safe_place(uint32_t k, uint32_t sample, uint32_t n) {
  const float mean = static_cast<float>(k) * static_cast<float>(sample) / static_cast<float>(n);
  return static_cast<uint32_t>(mean + 4.0f * sqrtf(mean) + 3.0f);
}

// The place in the sorted sample that the k-th of n is expected at.
VAMANA_HD uint32_t sample_rank(uint32_t k, uint32_t n) {
  return static_cast<uint32_t>(static_cast<uint64_t>(k) * kSample / n);
}

}  // namespace select
}  // namespace vamana
