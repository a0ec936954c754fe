// Shared memory of a block that chooses neighbours, and robust prune. vamana/build.h describes the
// parameter.
#pragma once

#include <cstdint>

#include "cta.cuh"
#include "exact.cuh"
#include "sort.cuh"
#include "vamana/build.h"
#include "vamana/order.h"
#include "vamana/shared_layout.h"

// Blocks of one warp that a multiprocessor has room for, which bounds registers.
#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ == 750 || __CUDA_ARCH__ == 860 || __CUDA_ARCH__ == 870)
#define VAMANA_BUILD_BLOCKS 16
#elif defined(__CUDA_ARCH__) && (__CUDA_ARCH__ == 890 || __CUDA_ARCH__ >= 1100)
#define VAMANA_BUILD_BLOCKS 24
#else
#define VAMANA_BUILD_BLOCKS 28
#endif

namespace vamana {

// PRODUCTS: vectors are compared by inner products, larger is nearer, and occlude each other by the
// distances of their directions; otherwise both by squared Euclidean distances.
template <int WARPS, bool PRODUCTS>
struct BuildState {
  static constexpr int kWarps = WARPS;
  static constexpr bool kProducts = PRODUCTS;
  const Build& build;
  Rows rows;
  uint64_t* keys;   // candidates, sorted by distance from the node
  uint32_t* ids;    // their ordinals
  uint32_t* kept;   // neighbours
  float* query;     // the vector that distances are measured from
  uint32_t* count;  // a word for what one warp tells the others
  uint32_t padded;

  __device__ BuildState(const Build& parameters, uint8_t* shared)
      : build(parameters),
        rows{reinterpret_cast<const uint8_t*>(parameters.vectors),
             parameters.vector_stride,
             parameters.dimension,
             nullptr,
             true},
        padded(up16(parameters.dimension)) {
    query = reinterpret_cast<float*>(shared);
    keys = reinterpret_cast<uint64_t*>(query + padded);
    ids = reinterpret_cast<uint32_t*>(keys + build.candidates);
    kept = ids + build.candidates;
    count = kept + kMaxDegree;
  }

  __device__ __forceinline__ float inverse_norm(uint32_t node) const {
    return PRODUCTS ? reinterpret_cast<const float*>(build.inverse_norms)[node] : 0;
  }

  __device__ __forceinline__ uint32_t* row(uint32_t node) const {
    return reinterpret_cast<uint32_t*>(build.graph) +
           static_cast<uint64_t>(node) * build.graph_stride;
  }
};

// Makes a node's vector the one that distances are measured from. Ends with a barrier.
template <class B>
__device__ __forceinline__ void measure_from(B& b, uint32_t node) {
  const float* vector = reinterpret_cast<const float*>(
      b.rows.base + static_cast<uint64_t>(node) * b.rows.stride);
  for (uint32_t d = threadIdx.x; d < b.build.dimension; d += B::kWarps * 32) {
    b.query[query_place<kFloat32>(d, b.padded)] = vector[d];
  }
  cta_sync<B::kWarps>();
}

template <bool PRODUCTS>
struct TakeKeys {
  uint64_t* keys;

  __device__ __forceinline__ void operator()(bool own, uint32_t place, uint32_t ordinal, Sums found) {
    if (own) {
      keys[place] = make_key(PRODUCTS ? -found.first : found.first, ordinal);
    }
  }
};

template <bool PRODUCTS>
struct DropOccluded;

template <>
struct DropOccluded<false> {
  uint64_t* keys;
  float alpha;

  __device__ __forceinline__ void operator()(bool own, uint32_t place, uint32_t, Sums found) {
    if (own && build_occludes(alpha, found.first, key_distance(keys[place]))) {
      keys[place] = kNoKey;
    }
  }
};

template <>
struct DropOccluded<true> {
  uint64_t* keys;
  float alpha;
  const float* inverse_norms;
  float node;  // inverse norms of the node and of the neighbour that is kept
  float kept;

  __device__ __forceinline__ void operator()(bool own, uint32_t place, uint32_t ordinal, Sums found) {
    if (own) {
      const float inverse = inverse_norms[ordinal];
      const float between = build_direction_distance(found.first, inverse, kept);
      if (build_occludes(alpha, between,
                         build_direction_distance(-key_distance(keys[place]), inverse, node))) {
        keys[place] = kNoKey;
      }
    }
  }
};

template <class B>
__device__ __forceinline__ DropOccluded<B::kProducts> drop_occluded(const B& b, uint32_t node,
                                                                    uint32_t kept) {
  if constexpr (B::kProducts) {
    return {b.keys + 1, b.build.alpha, reinterpret_cast<const float*>(b.build.inverse_norms),
            b.inverse_norm(node), b.inverse_norm(kept)};
  } else {
    return {b.keys + 1, b.build.alpha};
  }
}

// Sorted keys of the ordinals b.ids[0..count). Ends with a barrier.
template <class B>
__device__ __forceinline__ void sorted_keys(B& b, uint64_t* keys, const uint32_t* ids,
                                            uint32_t count) {
  exact_sums<kFloat32, B::kWarps, 2>(b.rows, B::kProducts == false, b.query, b.padded, ids, count,
                                     TakeKeys<B::kProducts>{keys});
  cta_sync<B::kWarps>();
}

// Moves the keys b.keys[from..to) that are neither kNoKey nor equal to the one before nor `without`
// to the front, and their ordinals to b.ids. Returns how many there are. Starts behind a barrier and
// ends with one.
template <class B>
__device__ __forceinline__ uint32_t compact(B& b, uint32_t from, uint32_t to,
                                            uint32_t without) {
  if (warp_id() == 0) {
    uint32_t left = 0;
    uint64_t last = kNoKey;
    for (uint32_t start = from; start < to; start += 32) {
      const uint32_t i = start + lane_id();
      const uint64_t key = i < to ? b.keys[i] : kNoKey;
      uint64_t previous = __shfl_up_sync(kAllLanes, key, 1);
      previous = lane_id() == 0 ? last : previous;
      last = __shfl_sync(kAllLanes, key, 31);
      const bool keep = key != kNoKey && key != previous && key_ordinal(key) != without;
      const uint32_t kept = __ballot_sync(kAllLanes, keep);
      // keys move to where other lanes have just read theirs
      __syncwarp();
      if (keep) {
        const uint32_t place = left + __popc(kept & lanes_below());
        b.keys[place] = key;
        b.ids[place] = key_ordinal(key);
      }
      left += __popc(kept);
      __syncwarp();
    }
    if (lane_id() == 0) {
      *b.count = left;
    }
  }
  cta_sync<B::kWarps>();
  const uint32_t left = *b.count;
  cta_sync<B::kWarps>();
  return left;
}

// Robust prune of the sorted candidates b.keys[0..count) of a node, whose ordinals are in b.ids: keeps the
// nearest candidate, drops the candidates that it occludes, and goes on with the next. Compares the same
// pairs as a prune node by node. Returns the number of neighbours in b.kept. Ends with
// a barrier.
template <class B>
__device__ __forceinline__ uint32_t prune(B& b, uint32_t node, uint32_t count) {
  uint32_t size = 0;
  while (count > 0) {
    const uint32_t nearest = b.ids[0];
    if (threadIdx.x == 0) {
      b.kept[size] = nearest;
    }
    size++;
    if (size == b.build.max_degree || count == 1) {
      break;
    }
    measure_from(b, nearest);
    exact_sums<kFloat32, B::kWarps, 2>(b.rows, B::kProducts == false, b.query, b.padded, b.ids + 1,
                                       count - 1, drop_occluded(b, node, nearest));
    cta_sync<B::kWarps>();
    count = compact(b, 1, count, kUnusedSlot);
  }
  cta_sync<B::kWarps>();
  return size;
}

// Writes a row. Ends with a barrier.
template <class B>
__device__ __forceinline__ void write_row(const B& b, uint32_t node,
                                          const uint32_t* neighbors, uint32_t count) {
  uint32_t* row = b.row(node);
  for (uint32_t i = threadIdx.x; i < b.build.graph_stride; i += B::kWarps * 32) {
    row[i] = i < count ? neighbors[i] : kUnusedSlot;
  }
  cta_sync<B::kWarps>();
}

// Copies the neighbours of a row to `target`, without the slots that are not used. Returns how many
// there are. Ends with a barrier.
template <class B>
__device__ __forceinline__ uint32_t read_row(const B& b, uint32_t node,
                                             uint32_t* target) {
  if (warp_id() == 0) {
    const uint32_t* row = b.row(node);
    uint32_t count = 0;
    for (uint32_t from = 0; from < b.build.graph_stride; from += 32) {
      const uint32_t i = from + lane_id();
      const uint32_t neighbor = i < b.build.graph_stride ? row[i] : kUnusedSlot;
      const bool used = neighbor < b.build.size;
      const uint32_t kept = __ballot_sync(kAllLanes, used);
      if (used) {
        target[count + __popc(kept & lanes_below())] = neighbor;
      }
      count += __popc(kept);
    }
    if (lane_id() == 0) {
      *b.count = count;
    }
  }
  cta_sync<B::kWarps>();
  const uint32_t count = *b.count;
  cta_sync<B::kWarps>();
  return count;
}

}  // namespace vamana
