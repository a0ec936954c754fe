// Half precision on the host, with the rounding of the device.
#pragma once

#include <cmath>
#include <cstdint>

#include "vamana/order.h"

namespace vamana {

inline float half_value(uint16_t half) {
  uint32_t exponent = (half >> 10) & 31u;
  uint32_t mantissa = half & 0x3FFu;
  uint32_t sign = static_cast<uint32_t>(half & 0x8000u) << 16;
  if (exponent == 0) {
    float magnitude = std::ldexp(static_cast<float>(mantissa), -24);
    return sign != 0 ? -magnitude : magnitude;
  }
  if (exponent == 31) {
    return bits_float(sign | 0x7F800000u | (mantissa << 13));
  }
  return bits_float(sign | ((exponent + 112) << 23) | (mantissa << 13));
}

// To nearest, ties to even; beyond the largest half to infinity.
inline uint16_t to_half(float value) {
  uint32_t bits = float_bits(value);
  uint16_t sign = static_cast<uint16_t>((bits >> 16) & 0x8000u);
  uint32_t magnitude = bits & 0x7FFFFFFFu;
  if (magnitude > 0x7F800000u) {
    return 0x7FFF;
  }
  if (magnitude >= 0x477FF000u) {
    return sign | 0x7C00u;
  }
  if (magnitude < 0x38800000u) {
    // below 2^-14 halves are multiples of 2^-24
    float steps = std::nearbyint(std::ldexp(bits_float(magnitude), 24));
    return static_cast<uint16_t>(sign | static_cast<uint16_t>(steps));
  }
  uint32_t rebased = magnitude - (112u << 23);
  uint32_t odd = (rebased >> 13) & 1u;
  return static_cast<uint16_t>(sign | ((rebased + 0xFFFu + odd) >> 13));
}

}  // namespace vamana
