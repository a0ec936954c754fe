// Searches of inverted lists of product quantization codes, whose tables do not fit shared memory.
#include "lists/kernels.cuh"

VAMANA_LIST_SEARCH(float_global, kFloat32, kListTableGlobal, 5)
VAMANA_LIST_SEARCH(byte_global, kByte, kListTableGlobal, 5)
