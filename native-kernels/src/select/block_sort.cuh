// Batcher's bitonic network over the registers of a block (thesis of Hanak, section 4.1): a thread
// holds T consecutive elements, so that short strides stay in a thread, longer ones in a warp, and
// only strides beyond a warp's elements go through shared memory.
#pragma once

#include <cstdint>

#include "vamana/select/pair.h"

namespace vamana {
namespace select {

// The threads of a block, known to the compiler if B is not 0.
template <int B>
__device__ __forceinline__ uint32_t threads() {
  return B == 0 ? blockDim.x : static_cast<uint32_t>(B);
}

__device__ __forceinline__ void exchange_if(bool swap, Pair* a, Pair* b) {
  const Pair low = swap ? *b : *a;
  const Pair high = swap ? *a : *b;
  *a = low;
  *b = high;
}

// The strides below T of one run.
template <int T>
__device__ __forceinline__ void merge_in_thread(Pair (&own)[T], bool ascending) {
#pragma unroll
  for (int stride = T / 2; stride > 0; stride >>= 1) {
#pragma unroll
    for (int r = 0; r < T; r++) {
      if ((r & stride) == 0) {
        exchange_if((own[r] > own[r | stride]) == ascending, &own[r], &own[r | stride]);
      }
    }
  }
}

// Runs of up to T elements; which way the last one goes depends on the thread.
template <int T>
__device__ __forceinline__ void sort_in_thread(Pair (&own)[T], bool ascending) {
#pragma unroll
  for (int run = 2; run < T; run <<= 1) {
#pragma unroll
    for (int stride = run / 2; stride > 0; stride >>= 1) {
#pragma unroll
      for (int r = 0; r < T; r++) {
        if ((r & stride) == 0) {
          exchange_if((own[r] > own[r | stride]) == ((r & run) == 0), &own[r], &own[r | stride]);
        }
      }
    }
  }
  merge_in_thread<T>(own, ascending);
}

// The strides of one run, from half of it down; element e = threadIdx.x * T + r. exchange is shared
// memory of as many elements as the block holds, read and written by nobody else between barriers.
template <int T, int B = 0>
__device__ __forceinline__ void merge_run(Pair (&own)[T], uint32_t run, Pair* exchange) {
  const bool ascending = (threadIdx.x * T & run) == 0;
  uint32_t apart = run / 2 / T;  // in threads
  for (; apart >= 32; apart >>= 1) {
    __syncthreads();
#pragma unroll
    for (int r = 0; r < T; r++) {
      exchange[r * threads<B>() + threadIdx.x] = own[r];
    }
    __syncthreads();
    const bool smaller = ((threadIdx.x & apart) == 0) == ascending;
#pragma unroll
    for (int r = 0; r < T; r++) {
      const Pair other = exchange[r * threads<B>() + (threadIdx.x ^ apart)];
      own[r] = (other < own[r]) == smaller ? other : own[r];
    }
  }
  for (; apart > 0; apart >>= 1) {
    const bool smaller = ((threadIdx.x & apart) == 0) == ascending;
#pragma unroll
    for (int r = 0; r < T; r++) {
      const Pair other = __shfl_xor_sync(0xFFFFFFFFu, own[r], apart);
      own[r] = (other < own[r]) == smaller ? other : own[r];
    }
  }
  merge_in_thread<T>(own, ascending);
}

// Sorts blockDim.x * T pairs, a power of two; all threads of the block call it. Pairs may be equal
// only if they are kNoPair.
template <int T, int B = 0>
__device__ __forceinline__ void sort_registers(Pair (&own)[T], Pair* exchange) {
  sort_in_thread<T>(own, (threadIdx.x & 1) == 0);
  for (uint32_t run = 2 * T; run <= threads<B>() * T; run <<= 1) {
    merge_run<T, B>(own, run, exchange);
  }
}

}  // namespace select
}  // namespace vamana
