// Adds the edges back of a batch to the rows that they come to. A row that has no room is pruned.
#include <cstdint>

#include "build.cuh"

namespace vamana {

// Puts the edges that the row does not have into b.keys, by ordinal; there are at most kBuildChunk
// edges. b.ids holds the row. Returns how many there are. Ends with a barrier.
template <class B>
__device__ __forceinline__ uint32_t new_edges(B& b, const BuildRun& run,
                                              uint32_t present) {
  const uint32_t* sources = reinterpret_cast<const uint32_t*>(b.build.sources) + run.start;
  if (warp_id() == 0) {
    uint32_t left = 0;
    for (uint32_t from = 0; from < run.count; from += 32) {
      const uint32_t i = from + lane_id();
      const uint32_t source = i < run.count ? sources[i] : run.node;
      bool keep = source != run.node;
      for (uint32_t j = 0; j < present; j++) {
        keep = keep && b.ids[j] != source;
      }
      const uint32_t kept = __ballot_sync(kAllLanes, keep);
      if (keep) {
        b.keys[left + __popc(kept & lanes_below())] = static_cast<uint64_t>(source) << 1;
      }
      left += __popc(kept);
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

// Appends the edges in b.keys to the row. Ends with a barrier.
template <class B>
__device__ __forceinline__ void append_edges(B& b, uint32_t node, uint32_t present,
                                             uint32_t count) {
  if (count > 0) {
    sort_keys<B::kWarps>(b.keys, count);
    cta_sync<B::kWarps>();
    uint32_t* row = b.row(node) + present;
    for (uint32_t i = threadIdx.x; i < count; i += B::kWarps * 32) {
      row[i] = key_ordinal(b.keys[i]);
    }
  }
  cta_sync<B::kWarps>();
}

// Prunes the row together with the edges; b.ids holds the row. Of more candidates than there is room
// for, the nearest remain. Ends with a barrier.
template <class B>
__device__ __forceinline__ void prune_edges(B& b, const BuildRun& run,
                                            uint32_t size) {
  const uint32_t* sources = reinterpret_cast<const uint32_t*>(b.build.sources) + run.start;
  measure_from(b, run.node);
  sorted_keys(b, b.keys, b.ids, size);
  for (uint32_t from = 0; from < run.count; from += kBuildChunk) {
    const uint32_t count = run.count - from < kBuildChunk ? run.count - from : kBuildChunk;
    for (uint32_t i = threadIdx.x; i < count; i += B::kWarps * 32) {
      b.ids[size + i] = sources[from + i];
    }
    cta_sync<B::kWarps>();
    sorted_keys(b, b.keys + size, b.ids + size, count);
    sort_keys<B::kWarps>(b.keys, size + count);
    cta_sync<B::kWarps>();
    size = compact(b, 0, size + count, run.node);
    size = size < kBuildChunk ? size : kBuildChunk;
  }
  write_row(b, run.node, b.kept, prune(b, run.node, size));
}

// Appends edges where the row has room for them, without a distance; the other rows are left to build_merge.
// They are few, and each takes many times as long, so they get blocks of several warps.
template <int WARPS>
__device__ __forceinline__ void append(const Build& parameters) {
  BuildState<WARPS, false> b(parameters, block_memory());
  uint32_t* counters = reinterpret_cast<uint32_t*>(b.build.counters);
  const uint32_t touched = counters[kBuildTouched];
  for (uint32_t i = blockIdx.x; i < touched; i += gridDim.x) {
    const BuildRun run = reinterpret_cast<const BuildRun*>(b.build.runs)[i];
    const uint32_t present = read_row(b, run.node, b.ids);
    const uint32_t edges = run.count <= kBuildChunk ? new_edges(b, run, present) : run.count;
    if (present + edges <= b.build.slots) {
      append_edges(b, run.node, present, edges);
    } else if (threadIdx.x == 0) {
      reinterpret_cast<uint32_t*>(b.build.starts)[atomicAdd(counters + kBuildFull, 1u)] = i;
    }
  }
}

extern "C" __global__ void __launch_bounds__(32, VAMANA_BUILD_BLOCKS) build_append(const __grid_constant__ Build b) {
  append<1>(b);
}

template <bool PRODUCTS>
__device__ __forceinline__ void merge(const Build& parameters) {
  BuildState<4, PRODUCTS> b(parameters, block_memory());
  const uint32_t full = reinterpret_cast<const uint32_t*>(b.build.counters)[kBuildFull];
  for (uint32_t i = blockIdx.x; i < full; i += gridDim.x) {
    const uint32_t which = reinterpret_cast<const uint32_t*>(b.build.starts)[i];
    const BuildRun run = reinterpret_cast<const BuildRun*>(b.build.runs)[which];
    prune_edges(b, run, read_row(b, run.node, b.ids));
  }
}

extern "C" __global__ void __launch_bounds__(128, 8) build_merge(const __grid_constant__ Build b) {
  merge<false>(b);
}

extern "C" __global__ void __launch_bounds__(128, 8) build_merge_products(const __grid_constant__ Build b) {
  merge<true>(b);
}

}  // namespace vamana
