// Sorts the results of each row, at most 16,384, by one block.
#pragma once

#include <cstdint>

#include "select/best.cuh"
#include "select/rows.cuh"

namespace vamana {
namespace select {

// Blocks are rows, each with at most B * T results; list has room for as many pairs.
template <int B, int T>
__device__ __forceinline__ void sort_results(const Select& p, Pair* list) {
  const uint64_t first = static_cast<uint64_t>(blockIdx.x) * p.k;
  for (uint32_t i = threadIdx.x; i < p.k; i += B) {
    list[i] = make_pair(reinterpret_cast<const float*>(p.out_keys)[first + i],
                        reinterpret_cast<const uint32_t*>(p.out_ids)[first + i]);
  }
  __syncthreads();
  best_of<T, B>(list, p.k, p.k);
  for (uint32_t i = threadIdx.x; i < p.k; i += B) {
    put_result(p, blockIdx.x, i, list[i]);
  }
}

}  // namespace select
}  // namespace vamana
