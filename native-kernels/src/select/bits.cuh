// bits (thesis of Hanak, sections 4.1 and 5.4.2): a block keeps the k best of what it has read at the
// front of a list in shared memory and collects candidates behind them. Only keys below the k-th best
// (the radius) are collected, and only when the list is full is it sorted. In random order, each
// sorting multiplies what has to be read before the next by about size / k.
#pragma once

#include <cstdint>

#include "select/best.cuh"
#include "select/rows.cuh"

namespace vamana {
namespace select {

// A list of blockDim.x * T pairs, at least k + 1. Counted from the start: the first k are the best so
// far once they have been sorted.
template <int T, int B>
struct Candidates {
  Pair* list;
  uint32_t* filled;
  uint32_t k;
  Pair worst;   // the k-th best when the list was last sorted
  float limit;  // its key

  __device__ __forceinline__ Candidates(Pair* memory, uint32_t* count, uint32_t wanted)
      : list(memory), filled(count), k(wanted), worst(kNoPair), limit(pair_key(kNoPair)) {
    if (threadIdx.x == 0) {
      *filled = 0;
    }
    __syncthreads();
  }

  __device__ __forceinline__ uint32_t size() const { return B * T; }

  // Whether the pair is dealt with; otherwise the list is full.
  __device__ __forceinline__ bool offer(Pair pair) {
    if (pair >= worst) {
      return true;
    }
    const uint32_t at = atomicAdd(filled, 1u);
    if (at < size()) {
      list[at] = pair;
    }
    return at < size();
  }

  // Called by all threads after a barrier.
  __device__ __forceinline__ void sort() {
    cut_list<T, B>(list, min(*filled, size()), k);
    worst = list[k - 1];
    limit = pair_key(worst);
    if (threadIdx.x == 0) {
      *filled = min(*filled, k);
    }
    __syncthreads();
  }
};

// Reads a part of a row. Columns of earlier tiles have lower ids if ids are columns, so that of later
// keys that equal the k-th best none is wanted.
template <int B, int V, typename Best>
__device__ __forceinline__ void scan_part(const Row& row, Best& best) {
  const uint32_t step = B * 4 * V;
  for (uint32_t base = row.begin; base < row.end; base += step) {
    uint32_t pending = ~0u;
    bool again = false;
    for (;;) {
      Tile<V> tile;
      tile.load(row, base, threadIdx.x, B);
      uint32_t refused = 0;
      if (again ? pending != 0 : tile.any_below(best.limit, row.ids != nullptr)) {
#pragma unroll
        for (int i = 0; i < 4 * V; i++) {
          if (!(tile.key(i) > best.limit) && (pending >> i & 1) != 0 && tile.column(i) < row.end &&
              !best.offer(make_pair(tile.key(i), row.id(tile.column(i))))) {
            refused |= 1u << i;
          }
        }
      }
      pending = refused;
      if (__syncthreads_or(refused != 0) == 0) {
        break;
      }
      best.sort();
      again = true;
    }
  }
}

// Reads pairs, the sorted results of partitions.
template <int T, int B>
__device__ __forceinline__ void scan_pairs(const Pair* pairs, uint32_t count,
                                           Candidates<T, B>& best) {
  for (uint32_t base = 0; base < count; base += B) {
    const uint32_t at = base + threadIdx.x;
    const Pair pair = at < count ? __ldcg(pairs + at) : kNoPair;
    bool refused = !best.offer(pair);
    while (__syncthreads_or(refused) != 0) {
      best.sort();
      refused = refused && !best.offer(pair);
    }
  }
}

// Whether this block is the last of a row to come here; what the others wrote before may then be read.
__device__ __forceinline__ bool last_of_row(uint32_t* counter, uint32_t partitions) {
  __shared__ bool last;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    last = atomicAdd(counter, 1u) == partitions - 1;
    if (last) {
      *counter = 0;
    }
  }
  __syncthreads();
  __threadfence();
  return last;
}

// Blocks are rows * partitions; dynamic shared memory is blockDim.x * T pairs, more than k.
template <int T, int B, int V>
__device__ __forceinline__ void select_bits(const Select& p, Pair* list) {
  __shared__ uint32_t filled;
  const uint32_t row = blockIdx.x / p.partitions;
  const uint32_t partition = blockIdx.x % p.partitions;
  Candidates<T, B> best(list, &filled, p.k);
  scan_part<B, V>(part_of_row(p, row, partition), best);
  best.sort();
  if (p.partitions > 1) {
    Pair* parts = reinterpret_cast<Pair*>(p.scratch + counter_bytes(p.rows)) +
                  static_cast<uint64_t>(row) * p.partitions * p.k;
    for (uint32_t i = threadIdx.x; i < p.k; i += B) {
      parts[static_cast<uint64_t>(partition) * p.k + i] = list[i];
    }
    if (!last_of_row(reinterpret_cast<uint32_t*>(p.scratch) + row, p.partitions)) {
      return;
    }
    Candidates<T, B> merged(list, &filled, p.k);
    scan_pairs<T, B>(parts, p.partitions * p.k, merged);
    merged.sort();
  }
  for (uint32_t i = threadIdx.x; i < p.k; i += B) {
    put_result(p, row, i, list[i]);
  }
}

}  // namespace select
}  // namespace vamana
