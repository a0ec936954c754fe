// Walks on asymmetric distances (BANG In-memory, section 5.1) from tables of 16-bit entries.
#include "walk/kernels.cuh"

VAMANA_WALK(table_half, kTableHalf, 12, 16)
