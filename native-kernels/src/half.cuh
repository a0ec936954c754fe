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

// Rounds two numbers to the halves of a word, the first to the lower one.
__device__ __forceinline__ uint32_t half_word(float first, float second) {
#if __CUDA_ARCH__ >= 800
  uint32_t word;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(second), "f"(first));
  return word;
#else
  return half_bits(first) | static_cast<uint32_t>(half_bits(second)) << 16;
#endif
}
#endif

// The two halves of a word, the lower one first.
__device__ __forceinline__ float2 half_values(uint32_t word) {
  return make_float2(half_value(static_cast<uint16_t>(word)),
                     half_value(static_cast<uint16_t>(word >> 16)));
}

}  // namespace vamana
