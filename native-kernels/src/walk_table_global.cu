// Walks on asymmetric distances from float tables in device memory, for tables beyond shared memory.
#include "walk/kernels.cuh"

VAMANA_WALK(table_global, kTableFloatGlobal, 16, 16)
