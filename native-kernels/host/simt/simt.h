// The parts of CUDA that kernels use, for threads that one thread of the host runs in turns: each is a fiber with a
// stack of its own. A warp's lanes wait for each other where they exchange values, a block's threads at
// barriers; whoever waits lets others run, which are chosen at random. So blocks make progress side by side, in an order
// that a seed decides. Include it before any kernel.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "../half.h"
#include "fibers.h"

#define __host__
#define __device__
#define __global__ __attribute__((visibility("default")))
#define __grid_constant__
#define __forceinline__ inline
#define __noinline__ inline __attribute__((noinline))
#define __launch_bounds__(...)
// A block that has such variables runs alone (launches.cpp).
#define __shared__ static

struct uint2 { uint32_t x, y; };
struct alignas(16) uint4 { uint32_t x, y, z, w; };
struct float2 { float x, y; };
struct alignas(16) float4 { float x, y, z, w; };
struct alignas(8) ushort4 { uint16_t x, y, z, w; };
struct simt_index { uint32_t x; };

// Found without a call, which each use of one of them would otherwise be in a shared library.
#define VAMANA_SIMT_INDEX thread_local simt_index __attribute__((tls_model("initial-exec")))
extern VAMANA_SIMT_INDEX threadIdx;
extern VAMANA_SIMT_INDEX blockIdx;
extern VAMANA_SIMT_INDEX blockDim;
extern VAMANA_SIMT_INDEX gridDim;

namespace vamana {

namespace simt {

// Kind of an exchange between the lanes of a warp. Lanes that wait for different kinds are an error.
enum Exchange : uint32_t { kValues, kBallot, kSync };

// Threads of a warp, and the 64-bit words that each hands in at most.
constexpr uint32_t kLanes = 32;
constexpr uint32_t kLaneWords = 3;

// Hands in words and waits for all lanes; returns the words of all, kLaneWords a lane, which stay until the next
// exchange but one.
const uint64_t* exchange(Exchange kind, const uint64_t* own, uint32_t words);
// Hands in a word and returns a lane's.
uint64_t shuffle(uint64_t own, uint32_t lane);
// Returns a bit for each lane.
uint32_t ballot(bool yes);
// Ends the launch with an error.
void trap();
// Waits for all threads of the block; returns how many of them say yes.
uint32_t barrier(bool yes);

template <typename Value>
const uint64_t* bring(Exchange kind, const Value& own) {
  static_assert(sizeof(Value) <= sizeof(uint64_t) * kLaneWords, "words of lanes");
  uint64_t words[kLaneWords] = {};
  std::memcpy(words, &own, sizeof own);
  return exchange(kind, words, (sizeof own + 7) / 8);
}

// Reads the value that a lane has handed in.
template <typename Value>
Value read(const uint64_t* brought, uint32_t lane) {
  Value value;
  std::memcpy(&value, brought + lane * kLaneWords, sizeof value);
  return value;
}

}  // namespace simt

uint8_t* block_memory();
void pair_arrive();
void pair_wait();
inline void prefetch_line(uint64_t) {}
inline float near_root(float value) { return std::sqrt(value); }
// words that blocks agree through: others read them while this thread goes on
inline uint64_t team_load(const uint64_t* word) { return *const_cast<const volatile uint64_t*>(word); }
inline uint32_t team_load(const uint32_t* word) { return *const_cast<const volatile uint32_t*>(word); }
inline void team_store(uint64_t* word, uint64_t value) { *const_cast<volatile uint64_t*>(word) = value; }
inline uint16_t half_bits(float value) { return to_half(value); }

}  // namespace vamana

inline void __syncthreads() { vamana::simt::barrier(false); }
inline int __syncthreads_count(int yes) { return static_cast<int>(vamana::simt::barrier(yes != 0)); }
inline int __syncthreads_or(int yes) { return vamana::simt::barrier(yes != 0) > 0 ? 1 : 0; }
inline void __syncwarp() { vamana::simt::exchange(vamana::simt::kSync, nullptr, 0); }
inline void __threadfence() {}
inline void __threadfence_system() {}
inline long long clock64() { return 0; }
inline void __trap() { vamana::simt::trap(); }

inline uint32_t __ballot_sync(uint32_t, bool value) { return vamana::simt::ballot(value); }

inline int __all_sync(uint32_t lanes, bool value) { return __ballot_sync(lanes, value) == 0xFFFFFFFFu; }
inline int __any_sync(uint32_t lanes, bool value) { return __ballot_sync(lanes, value) != 0; }

inline uint32_t __match_any_sync(uint32_t, uint32_t value) {
  const uint64_t* brought = vamana::simt::bring(vamana::simt::kValues, value);
  uint32_t same = 0;
  for (uint32_t lane = 0; lane < vamana::simt::kLanes; lane++) {
    same |= (vamana::simt::read<uint32_t>(brought, lane) == value ? 1u : 0u) << lane;
  }
  return same;
}

template <typename Value>
Value simt_shuffle(Value value, uint32_t lane) {
  static_assert(sizeof(Value) <= sizeof(uint64_t), "a word");
  uint64_t word = 0;
  std::memcpy(&word, &value, sizeof value);
  word = vamana::simt::shuffle(word, lane);
  std::memcpy(&value, &word, sizeof value);
  return value;
}

template <typename Value>
Value __shfl_sync(uint32_t, Value value, int lane) {
  return simt_shuffle(value, static_cast<uint32_t>(lane) & 31u);
}

template <typename Value>
Value __shfl_xor_sync(uint32_t, Value value, int mask) {
  return simt_shuffle(value, (threadIdx.x & 31u) ^ static_cast<uint32_t>(mask));
}

template <typename Value>
Value __shfl_up_sync(uint32_t, Value value, uint32_t delta) {
  const uint32_t lane = threadIdx.x & 31u;
  return simt_shuffle(value, lane < delta ? lane : lane - delta);
}

template <typename Value>
Value __ldg(const Value* address) { return *address; }
template <typename Value>
Value __ldcg(const Value* address) { return *address; }
template <typename Value>
Value __ldcs(const Value* address) { return *address; }

// The compiler does not see that these are atomic, so they tell it themselves.
#ifdef __SANITIZE_THREAD__
#define VAMANA_ATOMIC __attribute__((noinline, no_sanitize("thread")))
#else
#define VAMANA_ATOMIC
#endif

template <vamana::simt::Access HOW = vamana::simt::kAtomic, typename Value, typename Change>
VAMANA_ATOMIC Value simt_atomic(Value* address, Change change) {
#ifdef __SANITIZE_THREAD__
  vamana::simt::accessed(address, sizeof(Value), HOW, __builtin_return_address(0));
#endif
  const Value before = *address;
  *address = change(before);
  return before;
}

template <typename Value>
Value atomicAdd(Value* address, Value value) {
  return simt_atomic(address, [value](Value before) { return before + value; });
}
template <typename Value>
Value atomicSub(Value* address, Value value) {
  return simt_atomic(address, [value](Value before) { return before - value; });
}
template <typename Value>
Value atomicMax(Value* address, Value value) {
  return simt_atomic(address, [value](Value before) { return before < value ? value : before; });
}
template <typename Value>
Value atomicMin(Value* address, Value value) {
  return simt_atomic(address, [value](Value before) { return value < before ? value : before; });
}
inline uint32_t atomicOr(uint32_t* address, uint32_t bits) {
  return simt_atomic(address, [bits](uint32_t before) { return before | bits; });
}
inline uint32_t atomicExch(uint32_t* address, uint32_t value) {
  return simt_atomic<vamana::simt::kExchange>(address, [value](uint32_t) { return value; });
}
inline uint32_t atomicCAS(uint32_t* address, uint32_t expected, uint32_t value) {
  return simt_atomic(address, [=](uint32_t before) { return before == expected ? value : before; });
}

inline int __popc(uint32_t bits) { return __builtin_popcount(bits); }
inline int __ffs(int bits) { return __builtin_ffs(bits); }
inline int __clz(int bits) { return bits == 0 ? 32 : __builtin_clz(static_cast<uint32_t>(bits)); }
inline uint32_t __byte_perm(uint32_t low, uint32_t high, uint32_t places) {
  const uint64_t all = static_cast<uint64_t>(high) << 32 | low;
  uint32_t bytes = 0;
  for (uint32_t byte = 0; byte < 4; byte++) {
    bytes |= static_cast<uint32_t>(all >> 8 * (places >> 4 * byte & 7) & 0xFF) << 8 * byte;
  }
  return bytes;
}
inline float2 make_float2(float x, float y) { return {x, y}; }
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
inline uint2 make_uint2(uint32_t x, uint32_t y) { return {x, y}; }
template <typename One, typename Other>
std::common_type_t<One, Other> min(One one, Other other) { return other < one ? other : one; }
template <typename One, typename Other>
std::common_type_t<One, Other> max(One one, Other other) { return one < other ? other : one; }
inline uint32_t __float_as_uint(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}
inline float __uint_as_float(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
inline int32_t __float_as_int(float value) { return static_cast<int32_t>(__float_as_uint(value)); }
inline float __int_as_float(int32_t bits) { return __uint_as_float(static_cast<uint32_t>(bits)); }
inline int32_t __dp4a(int32_t a, int32_t b, int32_t sum) {
  for (uint32_t byte = 0; byte < 4; byte++) {
    sum += static_cast<int8_t>(a >> (8 * byte)) * static_cast<int8_t>(b >> (8 * byte));
  }
  return sum;
}

using std::fabs;
using std::fmaf;
using std::fmax;
using std::sqrt;

inline float fmaxf(float a, float b) { return std::fmax(a, b); }
