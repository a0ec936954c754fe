// Walks on exact distances from half-precision copies.
#include "walk/kernels.cuh"

// Only on compute capability 9.0 do walks on halves fit into the registers that twenty blocks leave.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ != 900
#define VAMANA_FLOAT16_BLOCKS 16
#else
#define VAMANA_FLOAT16_BLOCKS 20
#endif

VAMANA_WALK(exact_f16, kExactFloat16, VAMANA_FLOAT16_BLOCKS, VAMANA_EXACT_WARPS)
