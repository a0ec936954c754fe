// Partial bitonic sort (Krulis, 2015; thesis of Hanak, section 3.5.1): the best so far and the next
// as many keys lie sorted in shared memory, and the smaller half of both is kept. Nothing is filtered.
// Only for comparison.
#pragma once

#include <cstdint>

#include "block_bitonic.cuh"
#include "select/rows.cuh"

namespace vamana {
namespace select {

__device__ __forceinline__ void load_segment(const Row& row, uint32_t base, uint32_t size,
                                             Pair* list) {
  for (uint32_t i = threadIdx.x; i < size; i += blockDim.x) {
    list[i] = base + i < row.end ? row.pair(base + i) : kNoPair;
  }
}

// A block for each row; list has 2 * segment pairs, segment a power of two from 2, at least k.
__device__ __forceinline__ void partial_bitonic_row(const Select& p, uint32_t segment,
                                                    Pair* list) {
  const Row row = whole_row(p, blockIdx.x);
  Pair* next = list + segment;
  load_segment(row, 0, segment, list);
  sort_slots(list, segment);
  for (uint32_t base = segment; base < row.end; base += segment) {
    load_segment(row, base, segment, next);
    sort_slots(next, segment);
    for (uint32_t i = threadIdx.x; i < segment; i += blockDim.x) {
      const Pair other = next[segment - 1 - i];
      list[i] = other < list[i] ? other : list[i];
    }
    merge_runs(list, segment, segment);
  }
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < p.k; i += blockDim.x) {
    put_result(p, blockIdx.x, i, list[i]);
  }
}

}  // namespace select
}  // namespace vamana
