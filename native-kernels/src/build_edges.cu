// The edges back of a batch, by the node that they come to. Counters that several threads add to decide
// only where a node's edges lie and in which order, and build_merge sorts them: no race decides a row.
#include <cstdint>

#include "vamana/build.h"

namespace vamana {

// The edge that thread i of the batch takes, if there is one.
__device__ __forceinline__ bool edge_of(const Build& b, uint64_t i, uint32_t* from, uint32_t* to) {
  const uint32_t item = static_cast<uint32_t>(i / b.max_degree);
  *from = b.nodes != 0 ? reinterpret_cast<const uint32_t*>(b.nodes)[item] : b.first + item;
  *to = reinterpret_cast<const uint32_t*>(
      b.graph)[static_cast<uint64_t>(*from) * b.graph_stride + i % b.max_degree];
  return *to < b.size;
}

extern "C" __global__ void __launch_bounds__(256) build_count(const __grid_constant__ Build b) {
  uint32_t* counters = reinterpret_cast<uint32_t*>(b.counters);
  uint32_t* arrivals = reinterpret_cast<uint32_t*>(b.arrivals);
  const uint64_t edges = static_cast<uint64_t>(b.count) * b.max_degree;
  for (uint64_t i = blockIdx.x * 256ull + threadIdx.x; i < edges; i += gridDim.x * 256ull) {
    uint32_t from;
    uint32_t to;
    if (edge_of(b, i, &from, &to) && atomicAdd(arrivals + to, 1u) == 0) {
      reinterpret_cast<BuildRun*>(b.runs)[atomicAdd(counters + kBuildTouched, 1u)].node = to;
    }
  }
}

extern "C" __global__ void __launch_bounds__(256) build_place(const __grid_constant__ Build b) {
  uint32_t* counters = reinterpret_cast<uint32_t*>(b.counters);
  const uint32_t* arrivals = reinterpret_cast<const uint32_t*>(b.arrivals);
  const uint32_t touched = counters[kBuildTouched];
  for (uint32_t i = blockIdx.x * 256 + threadIdx.x; i < touched; i += gridDim.x * 256) {
    BuildRun& run = reinterpret_cast<BuildRun*>(b.runs)[i];
    run.count = arrivals[run.node];
    run.start = atomicAdd(counters + kBuildPlaced, run.count);
    reinterpret_cast<uint32_t*>(b.starts)[run.node] = run.start;
  }
}

extern "C" __global__ void __launch_bounds__(256) build_scatter(const __grid_constant__ Build b) {
  uint32_t* arrivals = reinterpret_cast<uint32_t*>(b.arrivals);
  const uint32_t* starts = reinterpret_cast<const uint32_t*>(b.starts);
  const uint64_t edges = static_cast<uint64_t>(b.count) * b.max_degree;
  for (uint64_t i = blockIdx.x * 256ull + threadIdx.x; i < edges; i += gridDim.x * 256ull) {
    uint32_t from;
    uint32_t to;
    if (edge_of(b, i, &from, &to)) {
      const uint32_t place = starts[to] + atomicSub(arrivals + to, 1u) - 1;
      reinterpret_cast<uint32_t*>(b.sources)[place] = from;
    }
  }
}

}  // namespace vamana
