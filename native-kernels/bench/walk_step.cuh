// Walks on exact distances by one and two warps with some of the variants of a step (walk/variant.cuh), which
// the including module has chosen.
#pragma once

#include "walk/kernels.cuh"

#define VAMANA_STEP_WALK(name)                                             \
  extern "C" __global__ void __launch_bounds__(32, 16)                     \
      step_##name##_w1(const __grid_constant__ vamana::Walk walk) {        \
    vamana::walk_items<vamana::kExactFloat32, 1, false>(walk);             \
  }                                                                        \
  extern "C" __global__ void __launch_bounds__(64, VAMANA_EXACT_WARPS / 2) \
      step_##name##_w2(const __grid_constant__ vamana::Walk walk) {        \
    vamana::walk_items<vamana::kExactFloat32, 2, false>(walk);             \
  }
