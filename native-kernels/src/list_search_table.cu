// Searches of inverted lists of product quantization codes, whose tables are in shared memory.
#include "lists/kernels.cuh"

VAMANA_LIST_SEARCH(float_table, kFloat32, kListTable, 6)
VAMANA_LIST_SEARCH(byte_table, kByte, kListTable, 5)
VAMANA_LIST_SEARCH_EIGHT(float_table, kFloat32, kListTable, 3)
VAMANA_LIST_SEARCH_EIGHT(byte_table, kByte, kListTable, 2)
