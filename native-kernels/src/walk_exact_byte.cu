// Walks on exact distances from copies of one byte a component.
#include "walk/kernels.cuh"

VAMANA_WALK(exact_byte, kExactByte, 16, VAMANA_EXACT_WARPS)
