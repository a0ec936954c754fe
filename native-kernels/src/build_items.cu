// One work item of the walk kernels for each node of a batch: its own vector is the query.
#include <cstdint>

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

}  // namespace vamana
