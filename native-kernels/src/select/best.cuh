// The k smallest of a short list of pairs in shared memory, found by a whole block. For kernels that
// keep a list of candidates beside their own work.
#pragma once

#include <cstdint>

#include "select/block_sort.cuh"
#include "vamana/select/pair.h"

namespace vamana {
namespace select {

// Halves runs of P sorted pairs, odd ones descending, until one is left, at the front of the list:
// of two runs, the smaller elements of each pair of places are the P smallest of both, and bitonic.
template <int B = 0>
__device__ __forceinline__ void join_runs(Pair* list, uint32_t size, uint32_t p) {
  for (uint32_t apart = p; apart < size; apart *= 2) {
    const uint32_t kept = size / 2 / apart * p;
    for (uint32_t i = threadIdx.x; i < kept; i += threads<B>()) {
      const uint32_t at = i / p * 2 * apart + i % p;
      list[at] = list[at + apart] < list[at] ? list[at + apart] : list[at];
    }
    __syncthreads();
    for (uint32_t stride = p / 2; stride > 0; stride /= 2) {
      for (uint32_t i = threadIdx.x; i < kept / 2; i += threads<B>()) {
        const uint32_t run = i / (p / 2);
        const uint32_t pair = i % (p / 2);
        const uint32_t low = run * 2 * apart + ((pair & ~(stride - 1)) << 1 | (pair & (stride - 1)));
        exchange_if((list[low] > list[low + stride]) == ((run & 1) == 0), &list[low],
                    &list[low + stride]);
      }
      __syncthreads();
    }
  }
}

// The k smallest of the first count pairs, if k is at most half of the list: runs no longer than
// needed are sorted, then joined.
template <int T, int B = 0>
__device__ __forceinline__ void cut_list(Pair* list, uint32_t count, uint32_t k) {
  Pair own[T];
#pragma unroll
  for (int r = 0; r < T; r++) {
    const uint32_t e = r * threads<B>() + threadIdx.x;
    own[r] = e < count ? list[e] : kNoPair;
  }
  uint32_t p = T < 2 ? 2 : T;
  sort_in_thread<T>(own, (threadIdx.x & 1) == 0);
  for (uint32_t run = 2 * T; run <= p || p < k; run <<= 1) {
    merge_run<T, B>(own, run, list);
    p = run;
  }
  __syncthreads();
#pragma unroll
  for (int r = 0; r < T; r++) {
    list[threadIdx.x * T + r] = own[r];
  }
  __syncthreads();
  join_runs<B>(list, threads<B>() * T, p);
}

// Leaves the k smallest of count pairs sorted at the front of the list; what lies behind them is
// undefined. All threads of the block call it, after a barrier that follows the last write to the
// list, and may read the result at once. blockDim.x is a power of two from 32 to 1,024, MAX_T one up to
// 16. count and k are at most blockDim.x * MAX_T, and the list has room for the least power of two from
// blockDim.x on that holds both; k may exceed count: places from count up to k then hold kNoPair.
//
// A kernel that knows its threads says so by B, which saves registers. Pairs that are not kNoPair are
// distinct. Cost follows count and k, not MAX_T.
template <int MAX_T, int B = 0>
__device__ void best_of(Pair* list, uint32_t count, uint32_t k) {
  if constexpr (MAX_T > 1) {
    if (max(count, k) <= threads<B>() * (MAX_T / 2)) {
      best_of<MAX_T / 2, B>(list, count, k);
      return;
    }
  }
  cut_list<MAX_T, B>(list, count, k);
}

}  // namespace select
}  // namespace vamana
