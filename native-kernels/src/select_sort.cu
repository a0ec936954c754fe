// select_sort_<size>: sorts up to so many results of each row, a block a row.
#include "select/segmented_sort.cuh"

using namespace vamana::select;

#define SELECT_SORT(size, threads, per_thread)                                \
  extern "C" __global__ void __launch_bounds__(threads)                       \
      select_sort_##size(const __grid_constant__ Select p) {                  \
    sort_results<threads, per_thread>(p, reinterpret_cast<Pair*>(vamana::block_memory()));       \
  }

SELECT_SORT(4096, 512, 8)
SELECT_SORT(16384, 1024, 16)
