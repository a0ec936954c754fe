// One work item of the walk kernels for each node of a batch: its own vector is the query. And the norms of
// vectors.
#include <cstdint>

#include "cta.cuh"
#include "vamana/build.h"
#include "vamana/visited.h"

namespace vamana {

extern "C" __global__ void __launch_bounds__(256) build_items(const __grid_constant__ Build b) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < kBuildCounters) {
    reinterpret_cast<uint32_t*>(b.counters)[i] = 0;
  }
  if (i >= b.count) {
    return;
  }
  const uint32_t node =
      b.nodes != 0 ? reinterpret_cast<const uint32_t*>(b.nodes)[i] : b.first + i;
  Item item = {};
  item.segment = b.segment;
  item.query = b.vectors + static_cast<uint64_t>(node) * b.vector_stride;
  item.result = b.found + i * build_result_bytes(b.beam);
  item.k = b.beam;
  item.beam = b.beam;
  item.parents = b.parents;
  item.rerank = static_cast<int32_t>(b.beam);
  item.visit_limit = kUnlimited;
  item.capacity = b.beam;
  reinterpret_cast<Item*>(b.items)[i] = item;
  reinterpret_cast<uint64_t*>(b.addresses)[i] = b.items + static_cast<uint64_t>(i) * sizeof(Item);
}

// The inverse norms of vectors b.first to b.first + b.count - 1, one warp each.
extern "C" __global__ void __launch_bounds__(256) build_norms(const __grid_constant__ Build b) {
  const uint32_t i = blockIdx.x * 8 + warp_id();
  if (i >= b.count) {
    return;
  }
  const uint32_t node = b.first + i;
  const float* vector =
      reinterpret_cast<const float*>(b.vectors + static_cast<uint64_t>(node) * b.vector_stride);
  float squares = 0;
  for (uint32_t d = lane_id(); d < b.dimension; d += 32) {
    squares = fmaf(vector[d], vector[d], squares);
  }
  squares = warp_sum(squares);
  if (lane_id() == 0) {
    reinterpret_cast<float*>(b.inverse_norms)[node] = build_inverse_norm(squares);
  }
}

}  // namespace vamana
