// Sorts the results of each row. Rows of up to 16,384 results are sorted by one block; longer ones
// in tiles that are then merged, two runs into one a pass, along diagonals of the merge (thesis of
// Hanak, section 3.4.2).
#pragma once

#include <cstdint>

#include "select/best.cuh"
#include "select/rows.cuh"

namespace vamana {
namespace select {

__device__ __forceinline__ Pair get_result(const Select& p, uint32_t row, uint32_t place) {
  const uint64_t at = static_cast<uint64_t>(row) * p.k + place;
  return make_pair(reinterpret_cast<const float*>(p.out_keys)[at],
                   reinterpret_cast<const uint32_t*>(p.out_ids)[at]);
}

// Scratch of rows with more than one tile: two arrays of rows * k pairs, of which merge passes read
// one and write the other.
__device__ __forceinline__ Pair* run_pairs(const Select& p, uint32_t row, uint32_t array) {
  return reinterpret_cast<Pair*>(p.scratch) +
         (static_cast<uint64_t>(array) * p.rows + row) * p.k;
}

// Blocks are rows * partitions, each with a tile of B * T results; list is as long.
template <int B, int T>
__device__ __forceinline__ void sort_tile(const Select& p, Pair* list) {
  const uint32_t row = blockIdx.x / p.partitions;
  const uint32_t begin = blockIdx.x % p.partitions * (B * T);
  const uint32_t count = min(p.k - begin, static_cast<uint32_t>(B * T));
  for (uint32_t i = threadIdx.x; i < count; i += B) {
    list[i] = get_result(p, row, begin + i);
  }
  __syncthreads();
  best_of<T, B>(list, count, count);
  for (uint32_t i = threadIdx.x; i < count; i += B) {
    if (p.partitions == 1) {
      put_result(p, row, i, list[i]);
    } else {
      run_pairs(p, row, 0)[begin + i] = list[i];
    }
  }
}

// Counts the first `diagonal` pairs of a merge that come from the first of two runs.
__device__ __forceinline__ uint32_t taken_from_first(const Pair* first, uint32_t first_count,
                                                     const Pair* second, uint32_t second_count,
                                                     uint32_t diagonal) {
  uint32_t low = diagonal > second_count ? diagonal - second_count : 0;
  uint32_t high = min(diagonal, first_count);
  while (low < high) {
    const uint32_t middle = (low + high) / 2;
    if (first[middle] <= second[diagonal - 1 - middle]) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

// Blocks are rows * partitions, each writes B * T pairs of a row whose runs of p.run pairs become
// runs of twice as many. list has B * T pairs. p.array says which array is read; the pass that makes
// one run writes results.
template <int B, int T>
__device__ __forceinline__ void merge_runs(const Select& p, Pair* list) {
  __shared__ uint32_t bounds[2];
  const uint32_t row = blockIdx.x / p.partitions;
  const uint32_t begin = blockIdx.x % p.partitions * (B * T);
  const uint32_t end = min(begin + B * T, p.k);
  const uint32_t start = begin / (2 * p.run) * (2 * p.run);  // B * T divides it
  const Pair* first = run_pairs(p, row, p.array) + start;
  const uint32_t first_count = min(p.run, p.k - start);
  const Pair* second = first + first_count;
  const uint32_t second_count = min(p.run, p.k - start - first_count);
  if (threadIdx.x < 2) {
    bounds[threadIdx.x] = taken_from_first(first, first_count, second, second_count,
                                           (threadIdx.x == 0 ? begin : end) - start);
  }
  __syncthreads();
  const uint32_t from_first = bounds[1] - bounds[0];
  const uint32_t from_second = end - begin - from_first;
  const uint32_t second_begin = begin - start - bounds[0];
  for (uint32_t i = threadIdx.x; i < end - begin; i += B) {
    list[i] = i < from_first ? first[bounds[0] + i] : second[second_begin + i - from_first];
  }
  __syncthreads();
  const uint32_t diagonal = min(threadIdx.x * T, end - begin);
  uint32_t a = taken_from_first(list, from_first, list + from_first, from_second, diagonal);
  uint32_t b = from_first + diagonal - a;
  Pair own[T];
#pragma unroll
  for (int r = 0; r < T; r++) {
    const Pair from_a = a < from_first ? list[a] : kNoPair;
    const Pair from_b = b < end - begin ? list[b] : kNoPair;
    const bool take_a = from_a <= from_b && a < from_first;
    own[r] = take_a ? from_a : from_b;
    a += take_a ? 1 : 0;
    b += take_a ? 0 : 1;
  }
  __syncthreads();
#pragma unroll
  for (int r = 0; r < T; r++) {
    list[threadIdx.x * T + r] = own[r];
  }
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < end - begin; i += B) {
    if (2 * static_cast<uint64_t>(p.run) >= p.k) {
      put_result(p, row, begin + i, list[i]);
    } else {
      run_pairs(p, row, 1 - p.array)[begin + i] = list[i];
    }
  }
}

}  // namespace select
}  // namespace vamana
