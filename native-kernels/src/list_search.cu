// Searches of inverted lists whose raw vectors are floats or bytes: one list after the other by blocks of four
// warps, of which the number that a multiprocessor has room for at once bounds registers; and several lists at
// once by blocks of 24.
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
  extern "C" __global__ void __launch_bounds__(768, 1)                       \
      list_search_##name##_w24(const __grid_constant__ vamana::ListSearch search) { \
    vamana::search_list_items<vamana::format, 24>(search);                    \
  }

VAMANA_LIST_SEARCH(float, kFloat32, VAMANA_LIST_FLOAT_BLOCKS)
VAMANA_LIST_SEARCH(byte, kByte, 5)
