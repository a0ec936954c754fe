// WarpSelect and BlockSelect (Faiss, section 4.2): the k best of a warp lie sorted in its registers,
// and each lane queues what is better than the k-th of them. When a lane's queue is full, all queues
// are sorted and merged with the best. BlockSelect is several warps on one row, merged at the end.
//
// Element i of a sequence is register i / 32 of lane i % 32.
#pragma once

#include <cstdint>

#include "select/block_sort.cuh"
#include "select/rows.cuh"

namespace vamana {
namespace select {

// The strides of one bitonic run over R registers a lane, from half of it down; run is a power of
// two. Runs whose index has bit flip set descend, the others ascend.
template <int R, int RUN>
__device__ __forceinline__ void merge_lanes(Pair (&own)[R], bool reversed) {
  const uint32_t lane = threadIdx.x & 31;
#pragma unroll
  for (int stride = RUN / 2; stride > 0; stride >>= 1) {
#pragma unroll
    for (int r = 0; r < R; r++) {
      // for runs below 32 the direction depends on the lane, above on the register
      const bool descends = RUN < 32 ? (lane & RUN) != 0 : (r & (RUN / 32)) != 0;
      if (stride >= 32) {
        if ((r & (stride / 32)) == 0) {
          exchange_if((own[r] > own[r | (stride / 32)]) != (descends != reversed), &own[r],
                      &own[r | (stride / 32)]);
        }
      } else {
        const Pair other = __shfl_xor_sync(0xFFFFFFFFu, own[r], stride);
        const bool smaller = ((lane & stride) == 0) != (descends != reversed);
        own[r] = (other < own[r]) == smaller ? other : own[r];
      }
    }
  }
}

template <int R, int RUN>
__device__ __forceinline__ void sort_lanes(Pair (&own)[R], bool descending) {
  if constexpr (RUN > 2) {
    sort_lanes<R, RUN / 2>(own, descending);
  }
  merge_lanes<R, RUN>(own, descending);
}

// K, a multiple of 32 and a power of two, best pairs and a queue of T a lane, a power of two.
template <int K, int T>
struct WarpQueue {
  static constexpr int R = K / 32;
  Pair best[R];
  Pair queue[T];
  uint32_t queued;
  Pair worst;  // the wanted k-th best when queues were last merged
  float limit;

  __device__ __forceinline__ WarpQueue() : queued(0), worst(kNoPair), limit(pair_key(kNoPair)) {
#pragma unroll
    for (int r = 0; r < R; r++) {
      best[r] = kNoPair;
    }
#pragma unroll
    for (int t = 0; t < T; t++) {
      queue[t] = kNoPair;
    }
  }

  // Never called with a full queue.
  __device__ __forceinline__ void offer(Pair pair) {
    if (pair < worst) {
#pragma unroll
      for (int t = T - 1; t > 0; t--) {
        queue[t] = queue[t - 1];
      }
      queue[0] = pair;
      queued++;
    }
  }

  __device__ __forceinline__ bool full() const {
    return __any_sync(0xFFFFFFFFu, queued == T) != 0;
  }

  // Of the best, ascending, and others, descending, the smaller of each pair of places are the K
  // smallest, and bitonic.
  template <int OTHERS>
  __device__ __forceinline__ void take(const Pair (&others)[OTHERS]) {
    constexpr int SHARED = OTHERS < R ? OTHERS : R;
#pragma unroll
    for (int r = 0; r < SHARED; r++) {
      Pair& at = best[R - SHARED + r];
      const Pair other = others[OTHERS - SHARED + r];
      at = other < at ? other : at;
    }
    merge_lanes<R, K>(best, false);
  }

  __device__ __forceinline__ void merge(uint32_t k) {
    sort_lanes<T, 32 * T>(queue, true);
    take<T>(queue);
#pragma unroll
    for (int t = 0; t < T; t++) {
      queue[t] = kNoPair;
    }
    queued = 0;
    refresh(k);
  }

  __device__ __forceinline__ void refresh(uint32_t k) {
    const uint32_t at = (k - 1) / 32;
    Pair kth = 0;
#pragma unroll
    for (uint32_t r = 0; r < R; r++) {
      kth |= best[r] & (0 - static_cast<Pair>(r == at));
    }
    worst = __shfl_sync(0xFFFFFFFFu, kth, (k - 1) % 32);
    limit = pair_key(worst);
  }
};

// The block's warps read turn by turn tiles of a row; at most K / 32 * 32 pairs a warp of dynamic
// shared memory if there are several.
template <int K, int T, int V>
__device__ __forceinline__ void select_warps(const Select& p, Pair* shared) {
  constexpr int R = K / 32;
  const uint32_t lane = threadIdx.x & 31;
  const uint32_t warp = threadIdx.x >> 5;
  const uint32_t warps = blockDim.x >> 5;
  const Row row = whole_row(p, blockIdx.x);
  WarpQueue<K, T> own;
  for (uint32_t base = warp * 128 * V; base < row.end; base += warps * 128 * V) {
    Tile<V> tile;
    tile.load(row, base, lane, 32);
    uint32_t pending = 0;
    if (tile.any_below(own.limit, row.has_ids())) {
#pragma unroll
      for (int i = 0; i < 4 * V; i++) {
        if (!(tile.key(i) > own.limit) && tile.column(i) < row.end) {
          pending |= 1u << i;
        }
      }
    }
    // lanes take their own candidates, whatever their places, so that rounds are few
    while (__any_sync(0xFFFFFFFFu, pending != 0) != 0) {
      if (pending != 0) {
        own.offer(row.pair(tile.column(__ffs(pending) - 1)));
        pending &= pending - 1;
      }
      if (own.full()) {
        own.merge(p.k);
      }
    }
  }
  own.merge(p.k);
  if (warps > 1) {
#pragma unroll
    for (int r = 0; r < R; r++) {
      shared[(warp * R + r) * 32 + lane] = own.best[r];
    }
    __syncthreads();
    if (warp > 0) {
      return;
    }
    for (uint32_t w = 1; w < warps; w++) {
      Pair others[R];
#pragma unroll
      for (int r = 0; r < R; r++) {
        others[r] = shared[w * K + (R - 1 - r) * 32 + (31 - lane)];
      }
      own.template take<R>(others);
    }
  }
#pragma unroll
  for (int r = 0; r < R; r++) {
    if (r * 32 + lane < p.k) {
      put_result(p, blockIdx.x, r * 32 + lane, own.best[r]);
    }
  }
}

}  // namespace select
}  // namespace vamana
