// Walks on asymmetric distances from float tables in shared memory.
#include "walk/kernels.cuh"

VAMANA_WALK(table_float, kTableFloat, 12, 16)
