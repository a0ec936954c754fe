// Kernels of a policy: one, two, four, eight and sixteen warps an item.
#pragma once

#include "walk.cuh"

// From compute capability 10.0 on the compiler keeps so much of what several warps load in registers
// that it spills with fewer than 254.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1000
#define VAMANA_EXACT_WARPS 8
#else
#define VAMANA_EXACT_WARPS 16
#endif

// Resident blocks of one warp, and resident warps in blocks of two, four and eight, of a multiprocessor.
// They bound the registers of a thread.
#define VAMANA_WALK(name, policy, blocks, warps)                       \
  extern "C" __global__ void __launch_bounds__(32, blocks)            \
      walk_##name##_w1(const __grid_constant__ vamana::Walk walk) {        \
    vamana::walk_items<vamana::policy, 1>(walk);             \
  }                                                                   \
  extern "C" __global__ void __launch_bounds__(64, warps / 2)         \
      walk_##name##_w2(const __grid_constant__ vamana::Walk walk) {        \
    vamana::walk_items<vamana::policy, 2>(walk);             \
  }                                                                   \
  extern "C" __global__ void __launch_bounds__(128, warps / 4)        \
      walk_##name##_w4(const __grid_constant__ vamana::Walk walk) {        \
    vamana::walk_items<vamana::policy, 4>(walk);             \
  }                                                                   \
  extern "C" __global__ void __launch_bounds__(256, warps / 8)        \
      walk_##name##_w8(const __grid_constant__ vamana::Walk walk) {        \
    vamana::walk_items<vamana::policy, 8>(walk);             \
  }                                                                   \
  extern "C" __global__ void __launch_bounds__(512, 1)                \
      walk_##name##_w16(const __grid_constant__ vamana::Walk walk) {       \
    vamana::walk_items<vamana::policy, 16>(walk);            \
  }
