// bits with the best so far in device memory (thesis of Hanak, section 5.6), for k beyond what shared
// memory holds twice. Candidates are collected and sorted in shared memory as in bits.cuh.
#pragma once

#include <cstdint>

#include "select/bits.cuh"
#include "vamana/select/select.h"

namespace vamana {
namespace select {

// Candidates whose best lie elsewhere: the list is emptied into them. scan_part fills it.
template <int T, int B>
struct GlobalCandidates {
  Pair* list;
  uint32_t* filled;
  Pair* top;  // size pairs of device memory, sorted
  uint32_t top_size;
  uint32_t k;
  Pair worst;
  float limit;
  bool guessed = false;

  __device__ __forceinline__ GlobalCandidates(Pair* memory, uint32_t* count, Pair* best,
                                              uint32_t best_size, uint32_t wanted)
      : list(memory), filled(count), top(best), top_size(best_size), k(wanted), worst(kNoPair),
        limit(pair_key(kNoPair)) {
    if (threadIdx.x == 0) {
      *filled = 0;
    }
    for (uint32_t i = threadIdx.x; i < top_size; i += B) {
      top[i] = kNoPair;
    }
    __syncthreads();
  }

  __device__ __forceinline__ bool offer(Pair pair) {
    if (pair >= worst) {
      return true;
    }
    const uint32_t at = atomicAdd(filled, 1u);
    if (at < B * T) {
      list[at] = pair;
    }
    return at < B * T;
  }

  // Called by all threads after a barrier.
  __device__ __forceinline__ void sort() {
    cut_list<T, B>(list, min(*filled, static_cast<uint32_t>(B * T)), B * T);
    for (uint32_t i = threadIdx.x; i < min(static_cast<uint32_t>(B * T), top_size); i += B) {
      Pair& at = top[top_size - 1 - i];
      at = list[i] < at ? list[i] : at;
    }
    for (uint32_t stride = top_size / 2; stride > 0; stride /= 2) {
      __syncthreads();
      for (uint32_t i = threadIdx.x; i < top_size / 2; i += B) {
        const uint32_t low = (i & ~(stride - 1)) << 1 | (i & (stride - 1));
        exchange_if(top[low] > top[low + stride], &top[low], &top[low + stride]);
      }
    }
    __syncthreads();
    worst = top[k - 1];
    limit = pair_key(worst);
    if (threadIdx.x == 0) {
      *filled = 0;
    }
    __syncthreads();
  }
};

// A block for each row; scratch has global_size(k) pairs for each.
template <int T, int B, int V>
__device__ __forceinline__ void bits_global_row(const Select& p, Pair* list) {
  __shared__ uint32_t filled;
  const uint32_t size = global_size(p.k);
  Pair* top = reinterpret_cast<Pair*>(p.scratch) + static_cast<uint64_t>(blockIdx.x) * size;
  GlobalCandidates<T, B> best(list, &filled, top, size, p.k);
  scan_part<B, V>(whole_row(p, blockIdx.x), best);
  best.sort();
  for (uint32_t i = threadIdx.x; i < p.k; i += B) {
    put_result(p, blockIdx.x, i, top[i]);
  }
}

}  // namespace select
}  // namespace vamana
