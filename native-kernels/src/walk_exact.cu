// Walks on exact distances (BANG Exact-distance, section 5.2), and on float16 or one-byte copies.
#include "walk/kernels.cuh"

// Compute capability 8.0 takes more registers for halves than twenty blocks leave it.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
#define VAMANA_FLOAT16_BLOCKS 16
#else
#define VAMANA_FLOAT16_BLOCKS 20
#endif

// From 10.0 on the compiler keeps more of what several warps load in registers.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1000
#define VAMANA_EXACT_WARPS 12
#else
#define VAMANA_EXACT_WARPS 16
#endif

VAMANA_WALK(exact_f32, kExactFloat32, 20, VAMANA_EXACT_WARPS)
VAMANA_WALK(exact_f16, kExactFloat16, VAMANA_FLOAT16_BLOCKS, VAMANA_EXACT_WARPS)
VAMANA_WALK(exact_byte, kExactByte, 16, VAMANA_EXACT_WARPS)
