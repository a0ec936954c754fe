// Kernels that search inverted lists whose raw vectors are floats or bytes: one list after the other by blocks of
// four warps, of which the number that a multiprocessor has room for at once bounds registers; and several lists
// at once by blocks of 24. With tables in shared memory there are blocks of eight warps, too: where tables are so
// large that a multiprocessor has room for a few blocks only, it has as many warps as with small ones.
#pragma once

#include "lists.cuh"

#define VAMANA_LIST_SEARCH(name, format, codes, blocks)                      \
  extern "C" __global__ void __launch_bounds__(128, blocks)                  \
      list_search_##name##_w4(const __grid_constant__ vamana::ListSearch search) { \
    vamana::search_list_items<vamana::format, 4, vamana::codes>(search);     \
  }                                                                          \
  extern "C" __global__ void __launch_bounds__(768, 1)                       \
      list_search_##name##_w24(const __grid_constant__ vamana::ListSearch search) { \
    vamana::search_list_items<vamana::format, 24, vamana::codes>(search);    \
  }

#define VAMANA_LIST_SEARCH_EIGHT(name, format, codes, blocks)                \
  extern "C" __global__ void __launch_bounds__(256, blocks)                  \
      list_search_##name##_w8(const __grid_constant__ vamana::ListSearch search) { \
    vamana::search_list_items<vamana::format, 8, vamana::codes>(search);     \
  }
