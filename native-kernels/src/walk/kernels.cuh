// Kernels of a policy: one, four, eight and sixteen warps an item.
#pragma once

#include "../walk.cuh"

// blocks: of one warp on a multiprocessor at once, which bounds registers
#define VAMANA_WALK(name, policy, blocks)                                             \
  extern "C" __global__ void __launch_bounds__(32, blocks)                            \
      walk_##name##_w1(const __grid_constant__ vamana::Walk walk) {                   \
    vamana::walk_items<vamana::policy, 1>(walk);                                      \
  }                                                                                   \
  extern "C" __global__ void __launch_bounds__(128, 4)                                \
      walk_##name##_w4(const __grid_constant__ vamana::Walk walk) {                   \
    vamana::walk_items<vamana::policy, 4>(walk);                                      \
  }                                                                                   \
  extern "C" __global__ void __launch_bounds__(256, 2)                                \
      walk_##name##_w8(const __grid_constant__ vamana::Walk walk) {                   \
    vamana::walk_items<vamana::policy, 8>(walk);                                      \
  }                                                                                   \
  extern "C" __global__ void __launch_bounds__(512, 1)                                \
      walk_##name##_w16(const __grid_constant__ vamana::Walk walk) {                  \
    vamana::walk_items<vamana::policy, 16>(walk);                                     \
  }
