// A step of the search tree from the entry point: which nodes can be reached, and from where.
#include <cstdint>

#include "cta.cuh"
#include "vamana/build.h"

namespace vamana {

// Nodes of level b.first give their neighbours that have none the next level. Of the nodes that a
// neighbour could come from it gets the lowest, whichever thread is first. b.arrivals holds levels and
// b.starts the nodes that nodes come from, kUnusedSlot where there is none yet.
extern "C" __global__ void __launch_bounds__(256) build_reach(const __grid_constant__ Build b) {
  uint32_t* levels = reinterpret_cast<uint32_t*>(b.arrivals);
  uint32_t* origins = reinterpret_cast<uint32_t*>(b.starts);
  uint32_t* reached = reinterpret_cast<uint32_t*>(b.counters) + kBuildTouched;
  const uint32_t node = blockIdx.x * 256 + threadIdx.x;
  const bool own = node < b.size && levels[node] == b.first;
  uint32_t fresh = 0;
  for (uint32_t left = __ballot_sync(kAllLanes, own); left != 0; left &= left - 1) {
    const uint32_t from = (node & ~31u) + __ffs(left) - 1;
    const uint32_t* row =
        reinterpret_cast<const uint32_t*>(b.graph) + static_cast<uint64_t>(from) * b.graph_stride;
    for (uint32_t i = lane_id(); i < b.graph_stride; i += 32) {
      const uint32_t to = row[i];
      if (to < b.size) {
        const uint32_t level = atomicCAS(levels + to, kUnusedSlot, b.first + 1);
        fresh += level == kUnusedSlot ? 1 : 0;
        if (level == kUnusedSlot || level == b.first + 1) {
          atomicMin(origins + to, from);
        }
      }
    }
  }
  fresh = warp_sum(fresh);
  if (lane_id() == 0 && fresh > 0) {
    atomicAdd(reached, fresh);
  }
}

}  // namespace vamana
