// Walks on exact distances (BANG Exact-distance, section 5.2), and on float16 or one-byte copies.
#include "walk.cuh"

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
  }

// Compute capability 8.0 takes more registers for halves than twenty blocks leave it.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
#define VAMANA_FLOAT16_BLOCKS 16
#else
#define VAMANA_FLOAT16_BLOCKS 20
#endif

VAMANA_WALK(exact_f32, kExactFloat32, 20)
VAMANA_WALK(exact_f16, kExactFloat16, VAMANA_FLOAT16_BLOCKS)
VAMANA_WALK(exact_byte, kExactByte, 16)
