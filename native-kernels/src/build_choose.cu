// Chooses the neighbours of each node of a batch among the nodes that its walk found and its present
// neighbours; without walks, prunes the rows.
#include <cstdint>

#include "build.cuh"

namespace vamana {

// Appends what the walk of item i found to b.ids, which holds `count` ordinals. Ends with a barrier.
template <class B>
__device__ __forceinline__ uint32_t append_found(B& b, uint32_t i, uint32_t count) {
  if (b.build.found == 0) {
    return count;
  }
  const Result* result =
      reinterpret_cast<const Result*>(b.build.found + i * build_result_bytes(b.build.beam));
  const uint32_t* ordinals = reinterpret_cast<const uint32_t*>(result + 1);
  const uint32_t found = result->count < b.build.beam ? result->count : b.build.beam;
  for (uint32_t j = threadIdx.x; j < found; j += B::kWarps * 32) {
    b.ids[count + j] = ordinals[j];
  }
  cta_sync<B::kWarps>();
  return count + found;
}

template <int WARPS, bool PRODUCTS>
__device__ __forceinline__ void choose(const Build& parameters) {
  BuildState<WARPS, PRODUCTS> b(parameters, block_memory());
  for (uint32_t i = blockIdx.x; i < b.build.count; i += gridDim.x) {
    const uint32_t node = b.build.nodes != 0
                              ? reinterpret_cast<const uint32_t*>(b.build.nodes)[i]
                              : b.build.first + i;
    uint32_t count = append_found(b, i, read_row(b, node, b.ids));
    measure_from(b, node);
    sorted_keys(b, b.keys, b.ids, count);
    sort_keys<WARPS>(b.keys, count);
    cta_sync<WARPS>();
    count = compact(b, 0, count, node);
    write_row(b, node, b.kept, prune(b, node, count));
  }
}

extern "C" __global__ void __launch_bounds__(32, VAMANA_BUILD_BLOCKS) build_choose_w1(const __grid_constant__ Build b) {
  choose<1, false>(b);
}

extern "C" __global__ void __launch_bounds__(128, 8) build_choose_w4(const __grid_constant__ Build b) {
  choose<4, false>(b);
}

extern "C" __global__ void __launch_bounds__(32, VAMANA_BUILD_BLOCKS)
    build_choose_products_w1(const __grid_constant__ Build b) {
  choose<1, true>(b);
}

extern "C" __global__ void __launch_bounds__(128, 8)
    build_choose_products_w4(const __grid_constant__ Build b) {
  choose<4, true>(b);
}

}  // namespace vamana
