// A thread block of WARPS warps that works on one item: barriers and slots. One warp
// needs no block barrier, which is why the number of warps is a template parameter.
#pragma once

#include <cstdint>

#include "vamana/platform.h"
#include "warp.cuh"

namespace vamana {

#ifndef VAMANA_SIMT
// Threads that are simulated by the host have these elsewhere.

// The block's shared memory.
__device__ __forceinline__ uint8_t* block_memory() {
  extern __shared__ __align__(16) uint8_t shared[];
  return shared;
}

// The first warp tells the last one that something is ready, and goes on.
__device__ __forceinline__ void pair_arrive() {
  asm volatile("bar.arrive %0, %1;" ::"r"(1), "r"(64) : "memory");
}

// The last warp waits for pair_arrive.
__device__ __forceinline__ void pair_wait() {
  asm volatile("bar.sync %0, %1;" ::"r"(1), "r"(64) : "memory");
}

// A square root to a unit in the last place or so.
__device__ __forceinline__ float near_root(float value) {
  float root;
  asm("sqrt.approx.f32 %0, %1;" : "=f"(root) : "f"(value));
  return root;
}

// Has a line of memory in the device's cache when it will be read.
__device__ __forceinline__ void prefetch_line(uint64_t address) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(address));
}
#endif

// Counts how often a warp has looked whether another block is ready. After half a minute or so it gives up: the launch
// is lost, which the host notices, instead of a device that hangs.
struct Patience {
  uint32_t left = 1u << 25;

  __device__ __forceinline__ void wait() {
    if (left-- == 0) {
      __trap();
    }
  }
};

// For loops that go round once more only if something was dropped.
__device__ __forceinline__ void expect_dropped(uint32_t dropped) {
  if (dropped == 0) {
    __trap();
  }
}

template <int WARPS>
__device__ __forceinline__ void cta_sync() {
  if constexpr (WARPS == 1) {
    __syncwarp();
  } else {
    __syncthreads();
  }
}

// Sum over the block, of floats or of 32-bit integers; the same in all threads. Scratch has room for a number
// of each warp. Ends with a barrier.
template <int WARPS, class Number>
__device__ __forceinline__ Number cta_sum(Number value, void* scratch) {
  value = warp_sum(value);
  if constexpr (WARPS > 1) {
    Number* sums = reinterpret_cast<Number*>(scratch);
    if (threadIdx.x % 32 == 0) {
      sums[threadIdx.x / 32] = value;
    }
    __syncthreads();
    value = 0;
    for (int warp = 0; warp < WARPS; warp++) {
      value += sums[warp];
    }
  }
  cta_sync<WARPS>();
  return value;
}

// The largest float of the block; as cta_sum.
template <int WARPS>
__device__ __forceinline__ float cta_max(float value, void* scratch) {
  value = warp_max(value);
  if constexpr (WARPS > 1) {
    float* largest = reinterpret_cast<float*>(scratch);
    if (threadIdx.x % 32 == 0) {
      largest[threadIdx.x / 32] = value;
    }
    __syncthreads();
    for (int warp = 0; warp < WARPS; warp++) {
      value = fmaxf(value, largest[warp]);
    }
  }
  cta_sync<WARPS>();
  return value;
}

__device__ __forceinline__ uint32_t lane_id() { return threadIdx.x & 31u; }

__device__ __forceinline__ uint32_t warp_id() { return threadIdx.x >> 5; }

__device__ __forceinline__ uint32_t lanes_below() { return (1u << lane_id()) - 1u; }

// Gives each lane that keeps something a slot behind *count; all lanes of the warp take part.
__device__ __forceinline__ uint32_t append_slot(bool keep, uint32_t* count) {
  uint32_t kept = __ballot_sync(kAllLanes, keep);
  uint32_t base = 0;
  if (kept != 0 && lane_id() == 0) {
    base = atomicAdd(count, static_cast<uint32_t>(__popc(kept)));
  }
  base = __shfl_sync(kAllLanes, base, 0);
  return base + __popc(kept & lanes_below());
}

// Copies a structure of at most 32 words, by a warp; `read` reads the word at an address.
template <class Value, class Read>
__device__ __forceinline__ void copy_words(Value& target, const uint32_t* source, Read read) {
  static_assert(sizeof(Value) % 4 == 0 && sizeof(Value) <= 32 * 4, "a word a lane");
  if (lane_id() < sizeof(Value) / 4) {
    reinterpret_cast<uint32_t*>(&target)[lane_id()] = read(source + lane_id());
  }
}

// The same from the device's memory.
template <class Value>
__device__ __forceinline__ void copy_words(Value& target, const void* source) {
  copy_words(target, static_cast<const uint32_t*>(source),
             [](const uint32_t* word) { return *word; });
}

// The same from the host's memory.
template <class Value>
__device__ __forceinline__ void copy_host_words(Value& target, uint64_t address) {
  copy_words(target, reinterpret_cast<const uint32_t*>(address),
             [](const uint32_t* word) { return host_word(word); });
}

}  // namespace vamana
