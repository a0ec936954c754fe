// Walks that add up the cycles of each stage, for the time shares that the GPU suite reports. Adding up
// takes registers, so that a multiprocessor has room for fewer of their blocks.
#include "walk/kernels.cuh"

VAMANA_PROFILED_WALK(exact_f32, kExactFloat32, 16, 12)
VAMANA_PROFILED_WALK(exact_byte, kExactByte, 16, 12)
VAMANA_PROFILED_WALK(table_half, kTableHalf, 12, 12)
