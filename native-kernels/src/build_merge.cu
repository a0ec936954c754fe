// Adds the edges back of a batch to the rows that they come to. A row that overflows is pruned.
#include <cstdint>

#include "build.cuh"

namespace vamana {

// Puts the edges that the row does not have into b.keys, by ordinal; there are at most kBuildChunk
// edges. b.ids holds the row. Returns how many there are. Ends with a barrier.
template <int WARPS>
__device__ __forceinline__ uint32_t new_edges(BuildState<WARPS>& b, const BuildRun& run,
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
  cta_sync<WARPS>();
  const uint32_t left = *b.count;
  cta_sync<WARPS>();
  return left;
}

// Appends the edges in b.keys to the row. Ends with a barrier.
template <int WARPS>
__device__ __forceinline__ void append_edges(BuildState<WARPS>& b, uint32_t node, uint32_t present,
                                             uint32_t count) {
  if (count > 0) {
    sort_keys<WARPS>(b.keys, count);
    cta_sync<WARPS>();
    uint32_t* row = b.row(node) + present;
    for (uint32_t i = threadIdx.x; i < count; i += WARPS * 32) {
      row[i] = key_ordinal(b.keys[i]);
    }
  }
  cta_sync<WARPS>();
}

// Prunes the row together with the edges; b.ids holds the row. Of more candidates than there is room
// for, the nearest remain. Ends with a barrier.
template <int WARPS>
__device__ __forceinline__ void prune_edges(BuildState<WARPS>& b, const BuildRun& run,
                                            uint32_t size) {
  const uint32_t* sources = reinterpret_cast<const uint32_t*>(b.build.sources) + run.start;
  measure_from(b, run.node);
  sorted_keys(b, b.keys, b.ids, size);
  for (uint32_t from = 0; from < run.count; from += kBuildChunk) {
    const uint32_t count = run.count - from < kBuildChunk ? run.count - from : kBuildChunk;
    for (uint32_t i = threadIdx.x; i < count; i += WARPS * 32) {
      b.ids[size + i] = sources[from + i];
    }
    cta_sync<WARPS>();
    sorted_keys(b, b.keys + size, b.ids + size, count);
    sort_keys<WARPS>(b.keys, size + count);
    cta_sync<WARPS>();
    size = compact(b, 0, size + count, run.node);
    size = size < kBuildChunk ? size : kBuildChunk;
  }
  write_row(b, run.node, b.kept, prune(b, size));
}

template <int WARPS>
__device__ __forceinline__ void merge(const Build& parameters) {
  extern __shared__ __align__(16) uint8_t shared[];
  BuildState<WARPS> b(parameters, shared);
  const uint32_t touched = reinterpret_cast<const uint32_t*>(b.build.counters)[kBuildTouched];
  for (uint32_t i = blockIdx.x; i < touched; i += gridDim.x) {
    const BuildRun run = reinterpret_cast<const BuildRun*>(b.build.runs)[i];
    const uint32_t present = read_row(b, run.node, b.ids);
    const uint32_t edges = run.count <= kBuildChunk ? new_edges(b, run, present) : run.count;
    if (present + edges <= b.build.slots) {
      append_edges(b, run.node, present, edges);
    } else {
      prune_edges(b, run, present);
    }
  }
}

extern "C" __global__ void __launch_bounds__(32, VAMANA_BUILD_BLOCKS) build_merge_w1(const __grid_constant__ Build b) {
  merge<1>(b);
}

extern "C" __global__ void __launch_bounds__(128, 8) build_merge_w4(const __grid_constant__ Build b) {
  merge<4>(b);
}

}  // namespace vamana
