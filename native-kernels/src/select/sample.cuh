// Sample Select (thesis of Hanak, section 4.3) with three buckets: two elements of a sorted random
// sample bound the k-th pair. One pass over the row counts what is below the lower one and keeps what
// is between them, a few percent, among which the k-th is found by digits. That pass
// writes what is below to the results at once.
#pragma once

#include <cstdint>

#include "select/radix.cuh"
#include "vamana/select/sample.h"
#include "warp.cuh"

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
    list[i] = row.pair(sample_column(i, kSample, p.n, blockIdx.x));
  }
  __syncthreads();
  const uint32_t rank = sample_rank(p.k, p.n);
  best_of<kSample / B, B>(list, kSample, min(rank + p.margin + 1, kSample));
  if (threadIdx.x == 0) {
    SampleState* state = sample_state(p, blockIdx.x);
    state->low = rank > p.margin ? list[rank - p.margin - 1] : 0;
    state->high = rank + p.margin < kSample ? list[rank + p.margin] : kNoPair;
    state->below = 0;
    state->candidates = 0;
    state->emitted = 0;
  }
}

// Reserves places behind a counter for a warp. Each thread's places follow the places of lower lanes.
struct WarpPlaces {
  uint32_t next;

  __device__ __forceinline__ WarpPlaces(uint32_t count, uint32_t* counter) : next(0) {
    const uint32_t total = warp_sum(count);
    if (total != 0 && (threadIdx.x & 31) == 0) {
      next = atomicAdd(counter, total);
    }
    next = __shfl_sync(0xFFFFFFFFu, next, 0);
  }

  // The place of this lane's element, if it has one; lanes side by side get places side by side.
  __device__ __forceinline__ uint32_t take(bool has) {
    const uint32_t lanes = __ballot_sync(0xFFFFFFFFu, has);
    const uint32_t place = next + __popc(lanes & ((1u << (threadIdx.x & 31)) - 1));
    next += __popc(lanes);
    return place;
  }
};

// Blocks are rows * partitions.
template <int B, int V>
__device__ __forceinline__ void split_row(const Select& p) {
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
          const Pair pair = make_pair(tile.key(i), tile.column(i));
          below |= pair < low ? 1u << i : 0;
          between |= pair >= low && pair < high ? 1u << i : 0;
        }
      }
    }
    below_count += __popc(below);
    if (__any_sync(0xFFFFFFFFu, between != 0) != 0) {
      WarpPlaces places(__popc(between), &state->candidates);
#pragma unroll
      for (int i = 0; i < 4 * V; i++) {
        const bool has = (between >> i & 1) != 0;
        const uint32_t at = places.take(has);
        if (has && at < p.capacity) {
          kept[at] = make_pair(tile.key(i), tile.column(i));
        }
      }
    }
    if (__any_sync(0xFFFFFFFFu, below != 0) != 0) {
      WarpPlaces places(__popc(below), &state->emitted);
#pragma unroll
      for (int i = 0; i < 4 * V; i++) {
        const bool has = (below >> i & 1) != 0;
        const uint32_t at = places.take(has);
        if (has && at < p.k) {
          put_result(p, index, at, make_pair(tile.key(i), tile.column(i)));
        }
      }
    }
  }
  below_count = warp_sum(below_count);
  if ((threadIdx.x & 31) == 0 && below_count != 0) {
    atomicAdd(&state->below, below_count);
  }
}

// A block for each row. If the sample misled, which its margin makes rare, the whole row is looked at
// again.
template <int B, int T, int V>
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
