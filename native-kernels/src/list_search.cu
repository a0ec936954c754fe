// Searches of inverted lists whose raw vectors are floats or bytes, by blocks of four and of eight warps. How
// many blocks of four a multiprocessor has room for at once bounds registers.
#include "lists.cuh"

// From compute capability 10.0 on the compiler needs more registers.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1000
#define VAMANA_LIST_FLOAT_BLOCKS 5
#else
#define VAMANA_LIST_FLOAT_BLOCKS 6
#endif

#define VAMANA_LIST_SEARCH(name, format, blocks)                             \
  extern "C" __global__ void __launch_bounds__(128, blocks)                  \
      list_search_##name##_w4(const __grid_constant__ vamana::ListSearch search) { \
    vamana::search_list_items<vamana::format, 4>(search);                    \
  }                                                                          \
  extern "C" __global__ void __launch_bounds__(256, 2)                       \
      list_search_##name##_w8(const __grid_constant__ vamana::ListSearch search) { \
    vamana::search_list_items<vamana::format, 8>(search);                    \
  }

VAMANA_LIST_SEARCH(float, kFloat32, VAMANA_LIST_FLOAT_BLOCKS)
VAMANA_LIST_SEARCH(byte, kByte, 5)
