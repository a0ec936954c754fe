// bits (thesis of Hanak, sections 4.1 and 5.4.2): a block keeps the k best of what it has read at the
// front of a list in shared memory and collects candidates behind them. Only keys below the k-th best
// (the radius) are collected, and only when the list is full is it sorted. In random order, each
// sorting multiplies what has to be read before the next by about size / k.
//
// In addition to the thesis, a long row is sampled at random first, and the first radius is one that
// very likely leaves k keys. So a row in descending order, whose every key is below the k-th best so
// far, costs little more than others, and partitions of a row collect what is near the row's best, not
// their own best k. Should fewer than k keys be below, the row is read again without.
#pragma once

#include <cstdint>

#include "select/best.cuh"
#include "select/rows.cuh"
#include "vamana/select/sample.h"

namespace vamana {
namespace select {

// A row is sampled if it has at least so many times the keys of the sample.
constexpr uint32_t kSampledShare = 16;

// A list of blockDim.x * T pairs, at least k + 1. Counted from the start: the first k are the best so
// far once they have been sorted.
template <int T, int B>
struct Candidates {
  Pair* list;
  uint32_t* filled;
  uint32_t k;
  Pair worst;    // the k-th best when the list was last sorted, or what a sample suggests
  float limit;   // its key
  bool guessed;  // the latter

  __device__ __forceinline__ Candidates(Pair* memory, uint32_t* count, uint32_t wanted)
      : list(memory), filled(count), k(wanted) {
    reset();
  }

  __device__ __forceinline__ void reset() {
    worst = kNoPair;
    limit = pair_key(kNoPair);
    guessed = false;
    __syncthreads();
    if (threadIdx.x == 0) {
      *filled = 0;
    }
    __syncthreads();
  }

  // Takes the first radius from a sample of a whole row, if that is long enough to be worth it.
  __device__ __forceinline__ void guess(const Row& row, uint32_t n, uint32_t seed) {
    const uint32_t place = safe_place(k, size(), n);
    if (n / kSampledShare < size() || place >= size() / 4) {
      return;
    }
#pragma unroll
    for (int r = 0; r < T; r++) {
      const uint32_t i = r * B + threadIdx.x;
      list[i] = row.pair(sample_column(i, size(), n, seed));
    }
    __syncthreads();
    cut_list<T, B>(list, size(), place + 1);
    worst = list[place];
    limit = pair_key(worst);
    guessed = true;
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
    guessed = false;
    if (threadIdx.x == 0) {
      *filled = min(*filled, k);
    }
    __syncthreads();
  }
};

// Reads a part of a row. Columns of earlier tiles are lower after a sorting, so later keys that equal the k-th best key
// are not wanted.
template <int B, int V, typename Best>
__device__ __forceinline__ void scan_part(const Row& row, Best& best) {
  const uint32_t step = B * 4 * V;
  for (uint32_t base = row.begin; base < row.end; base += step) {
    uint32_t pending = ~0u;
    bool again = false;
    for (;;) {
      Tile<V> tile;
      tile.load(row, base, threadIdx.x, B);
      if (base + step > row.end) {
        pending &= tile.valid(row.end);
      }
      uint32_t refused = 0;
      if (again ? pending != 0 : tile.any_below(best.limit, best.guessed)) {
#pragma unroll
        for (int i = 0; i < 4 * V; i++) {
          if (!(tile.key(i) > best.limit) && (pending >> i & 1) != 0 &&
              !best.offer(make_pair(tile.key(i), tile.column(i)))) {
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

// The counters of a row whose partitions are joined by the block that ends last.
struct JoinedRow {
  uint32_t done;
  uint32_t pairs;
};

// Adds a block's pairs to the pairs of its row. Returns whether this block is the last; *total is then the
// number of pairs, all pairs may be read, and the counters are ready for the next launch.
template <int B>
__device__ __forceinline__ bool join_row(JoinedRow* joined, uint32_t partitions, const Pair* list,
                                         uint32_t count, Pair* pairs, uint32_t* total) {
  __shared__ uint32_t first;
  __shared__ bool last;
  if (threadIdx.x == 0) {
    first = count == 0 ? 0 : atomicAdd(&joined->pairs, count);
  }
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < count; i += B) {
    pairs[first + i] = list[i];
  }
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    last = atomicAdd(&joined->done, 1u) == partitions - 1;
    if (last) {
      first = atomicExch(&joined->pairs, 0u);
      joined->done = 0;
    }
  }
  __syncthreads();
  __threadfence();
  *total = first;
  return last;
}

__device__ __forceinline__ Pair* joined_pairs(const Select& p, uint32_t index) {
  return reinterpret_cast<Pair*>(p.scratch + kCounterBytes) +
         static_cast<uint64_t>(index) * p.partitions * p.k;
}

// Blocks are rows * partitions; dynamic shared memory is blockDim.x * T pairs, at least twice k.
template <int T, int B, int V>
__device__ __forceinline__ void select_bits(const Select& p, Pair* list) {
  __shared__ uint32_t filled;
  Candidates<T, B> best(list, &filled, p.k);
  const uint32_t index = blockIdx.x / p.partitions;
  Row row = part_of_row(p, index, blockIdx.x % p.partitions);
  best.guess(row, p.n, index);
  bool shared = p.partitions > 1;
  uint32_t total = 0;
  for (;;) {
    if (total == 0) {
      scan_part<B, V>(row, best);
    } else {
      scan_pairs<T, B>(joined_pairs(p, index), total, best);
    }
    if (shared) {
      if (filled > p.k) {
        best.sort();
      }
      shared = false;
      if (!join_row<B>(reinterpret_cast<JoinedRow*>(p.scratch) + index, p.partitions, list, filled,
                       joined_pairs(p, index), &total)) {
        return;
      }
      // if the sample misled, the row is read again by this block alone
      total = total < min(p.k, p.n) ? 0 : total;
      row.begin = 0;
      row.end = p.n;
    } else if (!best.guessed || filled >= min(p.k, p.n)) {
      break;
    }
    best.reset();
  }
  best.sort();
  for (uint32_t i = threadIdx.x; i < p.k; i += B) {
    put_result(p, index, i, list[i]);
  }
}

}  // namespace select
}  // namespace vamana
