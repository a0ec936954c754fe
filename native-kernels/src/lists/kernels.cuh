// Kernels that search inverted lists whose raw vectors are floats or bytes: one list after the other by blocks of
// four warps, of which the number that a multiprocessor has room for at once bounds registers; and several lists
// at once by blocks of 24.
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
