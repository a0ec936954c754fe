// Rows of a Select: where they lie, and how their results are written.
#pragma once

#include <cstdint>

#include "cta.cuh"
#include "vamana/select/pair.h"
#include "vamana/select/select.h"

namespace vamana {
namespace select {

struct Row {
  const float* keys;
  uint32_t begin;  // columns of this block
  uint32_t end;

  __device__ __forceinline__ Pair pair(uint32_t column) const {
    return make_pair(__ldg(keys + column), column);
  }
};

__device__ __forceinline__ Row whole_row(const Select& p, uint32_t row) {
  const uint64_t first = static_cast<uint64_t>(row) * p.stride;
  return {reinterpret_cast<const float*>(p.keys) + first, 0, p.n};
}

// The part of a row that a block of a grid of rows * partitions has.
__device__ __forceinline__ Row part_of_row(const Select& p, uint32_t row, uint32_t partition) {
  Row part = whole_row(p, row);
  const uint32_t columns = partition_columns(p.n, p.partitions);
  part.begin = static_cast<uint32_t>(min(static_cast<uint64_t>(partition) * columns,
                                         static_cast<uint64_t>(p.n)));
  part.end = static_cast<uint32_t>(min(static_cast<uint64_t>(part.begin) + columns,
                                       static_cast<uint64_t>(p.n)));
  return part;
}

__device__ __forceinline__ void put_result(const Select& p, uint32_t row, uint32_t place,
                                           Pair pair) {
  const uint64_t at = static_cast<uint64_t>(row) * p.k + place;
  reinterpret_cast<float*>(p.out_keys)[at] = pair_key(pair);
  reinterpret_cast<uint32_t*>(p.out_ids)[at] = pair_id(pair);
}

// 4 * V keys of a thread: column(i) of key(i). Threads side by side read 16 bytes side by side.
template <int V>
struct Tile {
  float4 part[V];
  uint32_t first;
  uint32_t step;

  // Reads the columns from base on, a multiple of 4. Those from row.end on may hold anything; strides
  // are multiples of 4, so that the last 16 bytes of a row are its own.
  __device__ __forceinline__ void load(const Row& row, uint32_t base, uint32_t thread,
                                       uint32_t threads) {
    first = base + 4 * thread;
    step = 4 * threads;
    const float4* source = reinterpret_cast<const float4*>(row.keys + first);
#pragma unroll
    for (int v = 0; v < V; v++) {
      const bool inside = first + v * step < row.end;
      part[v] = inside ? __ldcs(source + v * threads) : make_float4(0, 0, 0, 0);
    }
  }

  __device__ __forceinline__ float key(int i) const {
    const float4& at = part[i / 4];
    return i % 4 == 0 ? at.x : i % 4 == 1 ? at.y : i % 4 == 2 ? at.z : at.w;
  }

  __device__ __forceinline__ uint32_t column(int i) const { return first + i / 4 * step + i % 4; }

  // A bit for each key that is below end, for tiles that reach beyond it.
  __device__ __forceinline__ uint32_t valid(uint32_t end) const {
    uint32_t mask = 0;
#pragma unroll
    for (int i = 0; i < 4 * V; i++) {
      mask |= column(i) < end ? 1u << i : 0;
    }
    return mask;
  }

  // Whether a key may be below the limit; equal ones count if loose. A limit of NaN refuses none.
  __device__ __forceinline__ bool any_below(float limit, bool loose) const {
    bool any = false;
    if (loose) {
#pragma unroll
      for (int i = 0; i < 4 * V; i++) {
        any |= !(key(i) > limit);
      }
    } else {
#pragma unroll
      for (int i = 0; i < 4 * V; i++) {
        any |= !(key(i) >= limit);
      }
    }
    return any;
  }
};

}  // namespace select
}  // namespace vamana
