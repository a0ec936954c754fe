// Sample Select (thesis of Hanak, section 4.3) with three buckets: two elements of a sorted random
// sample bound the k-th pair. One pass over the row counts what is below the lower one and keeps what
// is between them, a few percent, among which the k-th is found by digits. In one stage that pass
// writes what is below to the results at once; in two, a second pass writes all up to the k-th.
#pragma once

#include <cstdint>

#include "select/radix.cuh"
#include "vamana/select/sample.h"

namespace vamana {
namespace select {

__device__ __forceinline__ SampleState* sample_state(const Select& p, uint32_t row) {
  return reinterpret_cast<SampleState*>(p.scratch + row * sample_row_bytes(p.capacity));
}

__device__ __forceinline__ Pair* sample_pairs(const Select& p, uint32_t row) {
  return reinterpret_cast<Pair*>(p.scratch + row * sample_row_bytes(p.capacity) + 256);
}

// A block for each row; list has kSample pairs. n is at least kSample.
template <int B>
__device__ __forceinline__ void choose_splitters(const Select& p, Pair* list) {
  const Row row = whole_row(p, blockIdx.x);
  for (uint32_t i = threadIdx.x; i < kSample; i += B) {
    list[i] = row.pair(sample_column(i, p.n, blockIdx.x));
  }
  __syncthreads();
  best_of<kSample / B, B>(list, kSample, kSample);
  if (threadIdx.x == 0) {
    const uint32_t rank = sample_rank(p.k, p.n);
    SampleState* state = sample_state(p, blockIdx.x);
    state->low = rank > p.margin ? list[rank - p.margin - 1] : 0;
    state->high = rank + p.margin < kSample ? list[rank + p.margin] : kNoPair;
    state->below = 0;
    state->candidates = 0;
    state->emitted = 0;
  }
}

// Sum of the block's counts before this thread, and in *total of all.
template <int B>
__device__ __forceinline__ uint32_t places_before(uint32_t count, uint32_t* sums,
                                                  uint32_t* total) {
  uint32_t sum = count;
#pragma unroll
  for (int apart = 1; apart < 32; apart <<= 1) {
    const uint32_t other = __shfl_up_sync(0xFFFFFFFFu, sum, apart);
    sum += (threadIdx.x & 31) >= apart ? other : 0;
  }
  __syncthreads();
  if ((threadIdx.x & 31) == 31) {
    sums[threadIdx.x / 32] = sum;
  }
  __syncthreads();
  uint32_t before = 0;
  *total = 0;
#pragma unroll
  for (uint32_t w = 0; w < B / 32; w++) {
    before += w < threadIdx.x / 32 ? sums[w] : 0;
    *total += sums[w];
  }
  return before + sum - count;
}

// Blocks are rows * partitions.
template <int B, int V, bool ONE_STAGE>
__device__ __forceinline__ void split_row(const Select& p) {
  __shared__ uint32_t sums[B / 32];
  __shared__ uint32_t first_kept;
  __shared__ uint32_t first_below;
  const uint32_t index = blockIdx.x / p.partitions;
  const Row row = part_of_row(p, index, blockIdx.x % p.partitions);
  SampleState* state = sample_state(p, index);
  Pair* kept = sample_pairs(p, index);
  const Pair low = state->low;
  const Pair high = state->high;
  const float limit = pair_key(high);
  uint32_t below_count = 0;
  for (uint32_t base = row.begin; base < row.end; base += B * 4 * V) {
    Tile<V> tile;
    tile.load(row, base, threadIdx.x, B);
    uint32_t below = 0;
    uint32_t between = 0;
    if (tile.any_below(limit, true)) {
#pragma unroll
      for (int i = 0; i < 4 * V; i++) {
        if (!(tile.key(i) > limit) && tile.column(i) < row.end) {
          const Pair pair = make_pair(tile.key(i), row.id(tile.column(i)));
          below |= pair < low ? 1u << i : 0;
          between |= pair >= low && pair < high ? 1u << i : 0;
        }
      }
    }
    // both counts in one sum: a tile has fewer than 2^16 keys
    uint32_t total;
    const uint32_t counts =
        static_cast<uint32_t>(__popc(between)) |
        (ONE_STAGE ? static_cast<uint32_t>(__popc(below)) << 16 : 0);
    const uint32_t before = places_before<B>(counts, sums, &total);
    below_count += __popc(below);
    if (threadIdx.x == 0) {
      first_kept = (total & 0xFFFF) == 0 ? 0 : atomicAdd(&state->candidates, total & 0xFFFF);
      first_below = total >> 16 == 0 ? 0 : atomicAdd(&state->emitted, total >> 16);
    }
    __syncthreads();
    uint32_t at = first_kept + (before & 0xFFFF);
    uint32_t place = first_below + (before >> 16);
#pragma unroll
    for (int i = 0; i < 4 * V; i++) {
      if ((between >> i & 1) != 0) {
        if (at < p.capacity) {
          kept[at] = make_pair(tile.key(i), row.id(tile.column(i)));
        }
        at++;
      }
      if (ONE_STAGE && (below >> i & 1) != 0) {
        if (place < p.k) {
          put_result(p, index, place, make_pair(tile.key(i), row.id(tile.column(i))));
        }
        place++;
      }
    }
  }
  below_count = __reduce_add_sync(0xFFFFFFFFu, below_count);
  if ((threadIdx.x & 31) == 0 && below_count != 0) {
    atomicAdd(&state->below, below_count);
  }
}

// A block for each row. If the sample misled, which its margin makes rare, the whole row is looked at
// again.
template <int B, int T, int V, bool ONE_STAGE>
__device__ __forceinline__ void finish_row(const Select& p, RadixShared<B>& shared, Pair* list) {
  SampleState* state = sample_state(p, blockIdx.x);
  const Pair* kept = sample_pairs(p, blockIdx.x);
  const Row row = whole_row(p, blockIdx.x);
  const uint32_t below = state->below;
  const uint32_t candidates = state->candidates;
  const bool bounded = below < p.k && p.k - below <= candidates && candidates <= p.capacity;
  auto each_kept = [&](auto take) {
    for (uint32_t i = threadIdx.x; i < candidates; i += B) {
      take(kept[i]);
    }
  };
  auto each_of_row = [&](auto take) { each_pair<B, V>(row, take); };
  Pair last;
  if (bounded) {
    last = kth_pair<B, T>(candidates, p.k - below - 1, shared, list, each_kept);
  } else {
    last = p.k < p.n ? kth_pair<B, T>(p.n, p.k - 1, shared, list, each_of_row) : kNoPair;
  }
  if (!ONE_STAGE) {
    if (threadIdx.x == 0) {
      // what the second pass takes for below the lower splitter
      state->low = last == kNoPair ? kNoPair : last + 1;
      state->high = state->low;
      state->emitted = 0;
    }
    return;
  }
  if (threadIdx.x == 0) {
    shared.filled = bounded ? below : 0;
  }
  __syncthreads();
  if (bounded) {
    each_kept([&](Pair pair) {
      if (pair <= last) {
        put_result(p, blockIdx.x, atomicAdd(&shared.filled, 1u), pair);
      }
    });
  } else {
    emit_up_to<B, V>(p, blockIdx.x, row, last, &shared.filled);
    pad_result<B>(p, blockIdx.x);
  }
}

}  // namespace select
}  // namespace vamana
