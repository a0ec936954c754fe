// Walks that add up the cycles of each stage, for the benchmark's time shares.
#include "walk.cuh"

#define VAMANA_PROFILED_WALK(name, policy, warps)                              \
  extern "C" __global__ void __launch_bounds__(warps * 32)                     \
      profile_##name##_w##warps(const __grid_constant__ vamana::Walk walk) {   \
    vamana::walk_items<vamana::policy, warps, true>(walk);                     \
  }

VAMANA_PROFILED_WALK(exact_f32, kExactFloat32, 1)
VAMANA_PROFILED_WALK(exact_f32, kExactFloat32, 4)
VAMANA_PROFILED_WALK(table_half, kTableHalf, 1)
VAMANA_PROFILED_WALK(table_half, kTableHalf, 4)
