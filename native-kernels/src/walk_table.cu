// Walks on asymmetric distances (BANG In-memory, section 5.1; graph rows may be mapped files).
#include "walk/kernels.cuh"

VAMANA_WALK(table_half, kTableHalf, 12, 16)
VAMANA_WALK(table_float, kTableFloat, 12, 16)
VAMANA_WALK(table_global, kTableFloatGlobal, 16, 16)
