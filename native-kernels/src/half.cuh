// Half precision numbers as 16 bits, converted by the instructions that every GPU has, so that kernels
// compile without the headers of the CUDA toolkit.
#pragma once

#include <cstdint>

namespace vamana {

#ifndef VAMANA_SIMT
// Threads that are simulated by the host have these elsewhere.

// Rounds to the nearest half, ties to even; numbers beyond the largest half become infinite.
__device__ __forceinline__ uint16_t half_bits(float value) {
  uint16_t bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}

__device__ __forceinline__ float half_value(uint16_t bits) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
  return value;
}
#endif

// The two halves of a word, the lower one first.
__device__ __forceinline__ float2 half_values(uint32_t word) {
  return make_float2(half_value(static_cast<uint16_t>(word)),
                     half_value(static_cast<uint16_t>(word >> 16)));
}

}  // namespace vamana
