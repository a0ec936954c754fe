// Walks on exact distances (BANG Exact-distance, section 5.2).
#include "walk/kernels.cuh"

VAMANA_WALK(exact_f32, kExactFloat32, VAMANA_EXACT_BLOCKS, VAMANA_EXACT_WARPS)
