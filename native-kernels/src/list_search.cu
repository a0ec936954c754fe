// Searches of inverted lists whose raw vectors are floats or bytes, by blocks of four and of eight warps. How
// many blocks of four a multiprocessor has room for at once bounds registers.
#include "lists.cuh"

#define VAMANA_LIST_SEARCH(name, format, blocks)                             \
  extern "C" __global__ void __launch_bounds__(128, blocks)                  \
      list_search_##name##_w4(const __grid_constant__ vamana::ListSearch search) { \
    vamana::search_list_items<vamana::format, 4>(search);                    \
  }                                                                          \
  extern "C" __global__ void __launch_bounds__(256, 2)                       \
      list_search_##name##_w8(const __grid_constant__ vamana::ListSearch search) { \
    vamana::search_list_items<vamana::format, 8>(search);                    \
  }

VAMANA_LIST_SEARCH(float, kFloat32, 7)
VAMANA_LIST_SEARCH(byte, kByte, 5)
