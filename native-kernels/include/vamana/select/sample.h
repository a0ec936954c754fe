// Random samples of rows: which of their elements bounds the wanted one.
#pragma once

#include <cmath>
#include <cstdint>

#include "vamana/platform.h"

namespace vamana {
namespace select {

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

}  // namespace select
}  // namespace vamana
