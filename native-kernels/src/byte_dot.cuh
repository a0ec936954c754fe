// Dot products of four signed bytes a word, and queries of bytes in shared memory.
#pragma once

#include <cstdint>

#include "vamana/bytes.h"

namespace vamana {

// sum + the dot product of the bytes of two words; one instruction on every device from 6.1 on.
__device__ __forceinline__ int32_t dot_bytes(uint32_t a, uint32_t b, int32_t sum) {
  return __dp4a(static_cast<int32_t>(a), static_cast<int32_t>(b), sum);
}

// As above, of sixteen bytes.
__device__ __forceinline__ int32_t dot_chunks(uint4 a, uint4 b, int32_t sum) {
  return dot_bytes(a.w, b.w, dot_bytes(a.z, b.z, dot_bytes(a.y, b.y, dot_bytes(a.x, b.x, sum))));
}

// The first `valid` bytes of sixteen, and zeros: what lies behind a row's last component may be anything.
__device__ __forceinline__ uint4 first_bytes(uint4 chunk, uint32_t valid) {
  uint32_t words[4] = {chunk.x, chunk.y, chunk.z, chunk.w};
#pragma unroll
  for (uint32_t i = 0; i < 4; i++) {
    words[i] = valid >= i * 4 + 4 ? words[i]
               : valid <= i * 4   ? 0u
                                  : words[i] & ((1u << (valid - i * 4) * 8) - 1u);
  }
  return {words[0], words[1], words[2], words[3]};
}

// A whole number from -128 to 127 in the lowest byte, and anything in the others.
__device__ __forceinline__ uint32_t whole_bits(float value) {
  return __float_as_uint(value + kWholeShift);
}

// Bytes of four steps of a query, which fit: the high ones as x, the low ones as y.
__device__ __forceinline__ uint2 pack_steps(const int32_t (&steps)[4]) {
  uint2 packed = {0, 0};
#pragma unroll
  for (int i = 0; i < 4; i++) {
    packed.x |= (static_cast<uint32_t>(high_byte(steps[i])) & 255u) << (8 * i);
    packed.y |= (static_cast<uint32_t>(low_byte(steps[i])) & 255u) << (8 * i);
  }
  return packed;
}

// Replaces a query of `padded` floats, laid out by query_place for bytes, by its bytes in steps of `step`:
// four components take the first half of what they took. For all threads, between barriers.
template <uint32_t THREADS>
__device__ __forceinline__ void pack_query(float* query, uint32_t padded, float step) {
  for (uint32_t four = threadIdx.x; four < padded / 4; four += THREADS) {
    float4* place = reinterpret_cast<float4*>(query) + four;
    const float4 q = *place;
    const int32_t steps[4] = {query_steps(q.x, step), query_steps(q.y, step),
                              query_steps(q.z, step), query_steps(q.w, step)};
    *reinterpret_cast<uint2*>(place) = pack_steps(steps);
  }
}

// Replaces a query of `padded` whole floats, laid out by query_place for bytes, by its bytes in their order.
// Sixteen take the first quarter of what they took, so that a thread needs no other. For all threads, between
// barriers.
template <uint32_t THREADS>
__device__ __forceinline__ void pack_whole_query(float* query, uint32_t padded) {
  const uint32_t chunks = padded / 16;
  for (uint32_t chunk = threadIdx.x; chunk < chunks; chunk += THREADS) {
    uint32_t words[4];
#pragma unroll
    for (uint32_t i = 0; i < 4; i++) {
      const float4 q = reinterpret_cast<const float4*>(query)[i * chunks + chunk];
      words[i] = __byte_perm(__byte_perm(whole_bits(q.x), whole_bits(q.y), 0x0040),
                             __byte_perm(whole_bits(q.z), whole_bits(q.w), 0x0040), 0x5410);
    }
    reinterpret_cast<uint4*>(query)[chunk] = {words[0], words[1], words[2], words[3]};
  }
}

// The step with which the high bytes of a query of bytes are its components, and the low ones zero.
constexpr float kWholeBytes = 1.0f / 256;

}  // namespace vamana
