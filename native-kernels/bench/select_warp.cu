// select_warp_<K>_<T>: the k smallest of rows, k at most K, with queues of T a lane; sorted. A block of
// one warp is WarpSelect, of several BlockSelect, which needs K pairs of dynamic shared memory a warp.
#include "select/warp_queue.cuh"

namespace {

using namespace vamana::select;

}  // namespace

#define SELECT_WARP(best, queue)                                                          \
  extern "C" __global__ void __launch_bounds__(128, (best) < 1024 ? 4 : 3)              \
      select_warp_##best##_##queue(const __grid_constant__ Select p) {                    \
    extern __shared__ __align__(16) unsigned char shared[];                               \
    select_warps<best, queue, (best) < 512 ? 4 : 2>(p, reinterpret_cast<Pair*>(shared));  \
  }

#define SELECT_WARP_QUEUES(best) SELECT_WARP(best, 2) SELECT_WARP(best, 4) SELECT_WARP(best, 8)

SELECT_WARP_QUEUES(32)
SELECT_WARP_QUEUES(128)
SELECT_WARP_QUEUES(256)
SELECT_WARP_QUEUES(512)
SELECT_WARP_QUEUES(1024)
