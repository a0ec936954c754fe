// Walks on exact distances (BANG Exact-distance, section 5.2).
#include "walk/kernels.cuh"

// Sixteen blocks of one warp: their lanes request eight chunks at a time, which is faster from a few hundred
// dimensions on than more blocks that request four, and as fast below.
VAMANA_WALK(exact_f32, kExactFloat32, 16, VAMANA_EXACT_WARPS)
