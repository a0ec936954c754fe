// select_bits_<size>: the k smallest of rows, k below the size of the list; sorted.
#include "select/bits.cuh"

using namespace vamana::select;

#define SELECT_BITS(size, threads, per_thread, reads, blocks)                      \
  extern "C" __global__ void __launch_bounds__(threads, blocks)                    \
      select_bits_##size(const __grid_constant__ Select p) {                       \
    select_bits<per_thread, threads, reads>(p, reinterpret_cast<Pair*>(vamana::block_memory()));            \
  }

SELECT_BITS(1024, 256, 4, 4, 4)
SELECT_BITS(2048, 256, 8, 4, 4)
SELECT_BITS(4096, 512, 8, 4, 2)
