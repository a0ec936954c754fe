// Merge queue with buffered search (Tang et al., fgknn; thesis of Hanak, section 3.6.2), a warp for
// each row: levels of 32, 32, 64, 128, ... pairs, each sorted from the largest down. A new pair is
// inserted into the first level, whose largest is dropped; while a level's head is then below the next
// one's, the levels up to that are merged. Only for comparison.
#pragma once

#include <cstdint>

#include "select/rows.cuh"
#include "vamana/bitonic.h"

namespace vamana {
namespace select {

// The queue holds complements, so that largest first is ascending.
struct MergeQueue {
  Pair* queue;  // size pairs
  Pair* buffer; // 64
  uint32_t size;
  uint32_t buffered;

  __device__ __forceinline__ MergeQueue(Pair* memory, uint32_t capacity)
      : queue(memory), buffer(memory + capacity), size(capacity), buffered(0) {
    for (uint32_t i = threadIdx.x; i < size; i += 32) {
      queue[i] = ~kNoPair;
    }
    __syncwarp();
  }

  __device__ __forceinline__ Pair worst() const { return ~queue[0]; }

  // Two sorted runs of the front become one.
  __device__ __forceinline__ void merge(uint32_t run) {
    for (uint32_t stride = run; stride > 0; stride /= 2) {
      for (uint32_t i = threadIdx.x; i < run; i += 32) {
        uint32_t low;
        uint32_t high;
        ascending_pair(i, 2 * run, stride, &low, &high);
        const Pair a = queue[low];
        const Pair b = queue[high];
        queue[low] = b < a ? b : a;
        queue[high] = b < a ? a : b;
      }
      __syncwarp();
    }
  }

  __device__ __forceinline__ void insert(Pair pair) {
    const Pair value = ~pair;
    const Pair own = queue[threadIdx.x];
    const Pair next = __shfl_down_sync(0xFFFFFFFFu, own, 1);
    // the head goes; what is larger than the pair moves up
    const uint32_t before = __popc(__ballot_sync(0xFFFFFFFFu, own < value)) - 1;
    queue[threadIdx.x] = threadIdx.x < before ? next : threadIdx.x == before ? value : own;
    __syncwarp();
    for (uint32_t run = 32; run < size; run *= 2) {
      const bool ordered = queue[run] >= queue[run == 32 ? 0 : run / 2];
      __syncwarp();  // all have looked before anyone writes
      if (ordered) {
        break;
      }
      merge(run);
    }
  }

  // Inserts 32 buffered pairs or all that are left, smallest first, up to the first that is too large.
  __device__ __forceinline__ void empty_buffer() {
    const uint32_t count = min(buffered, 32u);
    Pair own = threadIdx.x < count ? buffer[threadIdx.x] : kNoPair;
#pragma unroll
    for (uint32_t run = 2; run <= 32; run <<= 1) {
#pragma unroll
      for (uint32_t stride = run >> 1; stride > 0; stride >>= 1) {
        const Pair other = __shfl_xor_sync(0xFFFFFFFFu, own, stride);
        own = (other < own) == keeps_smaller(threadIdx.x, run, stride) ? other : own;
      }
    }
    for (uint32_t i = 0; i < count; i++) {
      const Pair pair = __shfl_sync(0xFFFFFFFFu, own, i);
      if (pair >= worst()) {
        break;
      }
      insert(pair);
    }
    const Pair left = threadIdx.x + 32 < buffered ? buffer[threadIdx.x + 32] : kNoPair;
    __syncwarp();
    buffer[threadIdx.x] = left;
    buffered -= count;
    __syncwarp();
  }

  __device__ __forceinline__ void offer(bool any, Pair pair) {
    const bool keep = any && pair < worst();
    const uint32_t kept = __ballot_sync(0xFFFFFFFFu, keep);
    if (keep) {
      buffer[buffered + __popc(kept & ((1u << threadIdx.x) - 1))] = pair;
    }
    buffered += __popc(kept);
    __syncwarp();
    if (buffered >= 32) {
      empty_buffer();
    }
  }
};

// Blocks of one warp; memory has size + 64 pairs, size a power of two from 32, at least k.
template <int V>
__device__ __forceinline__ void merge_queue_row(const Select& p, uint32_t size, Pair* memory) {
  const Row row = whole_row(p, blockIdx.x);
  MergeQueue queue(memory, size);
  for (uint32_t base = 0; base < row.end; base += 128 * V) {
    Tile<V> tile;
    tile.load(row, base, threadIdx.x, 32);
    const float limit = pair_key(queue.worst());
    uint32_t pending = 0;
#pragma unroll
    for (int i = 0; i < 4 * V; i++) {
      pending |= !(tile.key(i) > limit) && tile.column(i) < row.end ? 1u << i : 0;
    }
    while (__any_sync(0xFFFFFFFFu, pending != 0) != 0) {
      const uint32_t column = tile.column(max(__ffs(pending), 1) - 1);
      queue.offer(pending != 0, pending != 0 ? row.pair(column) : kNoPair);
      pending &= pending - 1;
    }
  }
  queue.empty_buffer();
  for (uint32_t run = 32; run < size; run *= 2) {
    queue.merge(run);
  }
  for (uint32_t i = threadIdx.x; i < p.k; i += 32) {
    put_result(p, blockIdx.x, i, ~queue.queue[size - 1 - i]);
  }
}

}  // namespace select
}  // namespace vamana
