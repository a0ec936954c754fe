// Kernels on the CPU as they are: the device's words, with which their sources compile for the host. A block's
// threads take turns on the calling thread; warps go on in a random order, and a thread waits where all threads
// of its warp or block have to arrive.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>

#define __device__
#define __host__
#define __global__
#define __forceinline__ inline
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __shared__ __thread
#define __restrict__

struct uint2 {
  uint32_t x, y;
};
struct alignas(16) uint4 {
  uint32_t x, y, z, w;
};
struct float2 {
  float x, y;
};
struct alignas(16) float4 {
  float x, y, z, w;
};
struct alignas(8) ushort4 {
  uint16_t x, y, z, w;
};
struct dim3 {
  uint32_t x, y, z;
};

inline float2 make_float2(float x, float y) { return {x, y}; }

namespace vamana {
namespace simt {

// Threads of a warp.
constexpr uint32_t kWarp = 32;

// Where a thread is; the scheduler of the calling thread keeps it.
struct Place {
  dim3 thread;
  dim3 block;
  dim3 grid;
};

extern thread_local Place place;

// Runs `body` as every thread of `blocks` blocks, one block after the other. Returns what went wrong, or nothing:
// threads wait for others that have ended.
std::string run(uint32_t blocks, uint32_t threads, uint64_t seed,
                const std::function<void()>& body);

// Waits for all threads of the block.
void block_barrier();

// Words that a lane brings at most.
constexpr uint32_t kWords = 6;

// Gives what each lane of the warp has brought, kWords a lane, once all have.
const uint32_t* exchange(const uint32_t* own, uint32_t words);

inline void warp_barrier() { exchange(nullptr, 0); }

template <class Value>
Value read(const uint32_t* brought, uint32_t lane) {
  Value value;
  std::memcpy(&value, brought + lane * kWords, sizeof(Value));
  return value;
}

template <class Value>
const uint32_t* bring(Value own) {
  static_assert(sizeof(Value) % 4 == 0 && sizeof(Value) <= 4 * kWords, "words of lanes");
  uint32_t words[sizeof(Value) / 4];
  std::memcpy(words, &own, sizeof(Value));
  return exchange(words, sizeof(Value) / 4);
}

}  // namespace simt
}  // namespace vamana

#define threadIdx (vamana::simt::place.thread)
#define blockIdx (vamana::simt::place.block)
#define gridDim (vamana::simt::place.grid)

inline void __syncthreads() { vamana::simt::block_barrier(); }

inline void __syncwarp(uint32_t = 0) { vamana::simt::warp_barrier(); }

inline uint32_t __ballot_sync(uint32_t, bool own) {
  const uint32_t* brought = vamana::simt::bring<uint32_t>(own ? 1 : 0);
  uint32_t bits = 0;
  for (uint32_t lane = 0; lane < vamana::simt::kWarp; lane++) {
    bits |= vamana::simt::read<uint32_t>(brought, lane) << lane;
  }
  return bits;
}

inline bool __any_sync(uint32_t lanes, bool own) { return __ballot_sync(lanes, own) != 0; }

template <class Value>
Value __shfl_sync(uint32_t, Value own, uint32_t lane) {
  return vamana::simt::read<Value>(vamana::simt::bring(own), lane % vamana::simt::kWarp);
}

template <class Value>
Value __shfl_xor_sync(uint32_t, Value own, uint32_t lanes) {
  const uint32_t* brought = vamana::simt::bring(own);
  return vamana::simt::read<Value>(brought, threadIdx.x % vamana::simt::kWarp ^ lanes);
}

template <class Value>
Value __shfl_up_sync(uint32_t, Value own, uint32_t lanes) {
  const uint32_t* brought = vamana::simt::bring(own);
  const uint32_t lane = threadIdx.x % vamana::simt::kWarp;
  return vamana::simt::read<Value>(brought, lane >= lanes ? lane - lanes : lane);
}

inline uint32_t atomicAdd(uint32_t* target, uint32_t value) {
  const uint32_t old = *target;
  *target += value;
  return old;
}

template <class Value>
Value __ldg(const Value* source) {
  return *source;
}

inline int __popc(uint32_t bits) { return __builtin_popcount(bits); }
inline int __ffs(int bits) { return __builtin_ffs(bits); }
inline int __clz(int bits) { return bits == 0 ? 32 : __builtin_clz(static_cast<uint32_t>(bits)); }

inline float __uint_as_float(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
inline uint32_t __float_as_uint(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}
inline float __int_as_float(int32_t bits) { return __uint_as_float(static_cast<uint32_t>(bits)); }
inline int32_t __float_as_int(float value) { return static_cast<int32_t>(__float_as_uint(value)); }

inline int32_t __dp4a(int32_t a, int32_t b, int32_t sum) {
  for (int byte = 0; byte < 4; byte++) {
    sum += static_cast<int8_t>(a >> (8 * byte)) * static_cast<int8_t>(b >> (8 * byte));
  }
  return sum;
}

using std::fabs;
using std::fmaf;
using std::fmax;
using std::sqrt;

inline float fmaxf(float a, float b) { return std::fmax(a, b); }
