// Walks on exact distances (BANG Exact-distance, section 5.2).
#include "walk/kernels.cuh"

VAMANA_WALK(exact_f32, kExactFloat32, 20, VAMANA_EXACT_WARPS)
