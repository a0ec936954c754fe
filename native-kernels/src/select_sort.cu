// Sorts the results of rows: select_sort_<size> one tile a block; select_sort_merge merges tiles.
#include "select/segmented_sort.cuh"

namespace {

using namespace vamana::select;

}  // namespace

#define SELECT_SORT(size, threads, per_thread)                                \
  extern "C" __global__ void __launch_bounds__(threads)                       \
      select_sort_##size(const __grid_constant__ Select p) {                  \
    sort_tile<threads, per_thread>(p, reinterpret_cast<Pair*>(vamana::block_memory()));       \
  }

SELECT_SORT(4096, 512, 8)
SELECT_SORT(16384, 1024, 16)

extern "C" __global__ void __launch_bounds__(256)
    select_sort_merge(const __grid_constant__ Select p) {
  merge_runs<256, 16>(p, reinterpret_cast<Pair*>(vamana::block_memory()));
}
