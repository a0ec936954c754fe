// How stored components become floats.
#pragma once

#include <cstdint>

#include "vamana/order.h"
#include "vamana/platform.h"

namespace vamana {

// 2^23: a float with these bits or-ed in has the byte as its last mantissa bits, which is a faster
// way than a conversion instruction.
constexpr uint32_t kByteMagic = 0x4B000000u;

VAMANA_HD float byte_component(uint32_t byte, float scale, float offset) {
  float value = bits_float(kByteMagic | byte) - 8388608.0f;
  return fmaf(scale, value, offset);
}

}  // namespace vamana
