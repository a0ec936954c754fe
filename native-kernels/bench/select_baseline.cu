// Other published ways to select, for comparison: sorted, k at most kMaxShortK. Dynamic shared memory:
// select_partial_bitonic 2 * global_size(k) pairs; select_merge_queue, whose blocks are one warp,
// global_size(k) + 64.
#include "select/merge_queue.cuh"
#include "select/partial_bitonic.cuh"

namespace {

using namespace vamana::select;

}  // namespace

extern "C" __global__ void __launch_bounds__(256)
    select_partial_bitonic(const __grid_constant__ Select p) {
  extern __shared__ __align__(16) unsigned char shared[];
  partial_bitonic_row(p, global_size(p.k), reinterpret_cast<Pair*>(shared));
}

extern "C" __global__ void __launch_bounds__(32)
    select_merge_queue(const __grid_constant__ Select p) {
  extern __shared__ __align__(16) unsigned char shared[];
  merge_queue_row<4>(p, global_size(p.k), reinterpret_cast<Pair*>(shared));
}
