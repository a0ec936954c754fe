// Searches of inverted lists of RaBitQ codes.
#include "lists/kernels.cuh"

// From compute capability 10.0 on the compiler needs more registers.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1000
#define VAMANA_LIST_FLOAT_BLOCKS 5
#else
#define VAMANA_LIST_FLOAT_BLOCKS 6
#endif

VAMANA_LIST_SEARCH(float, kFloat32, kListBits, VAMANA_LIST_FLOAT_BLOCKS)
VAMANA_LIST_SEARCH(byte, kByte, kListBits, 5)
