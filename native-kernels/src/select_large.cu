// select_radix: any k, in any order of the results; a block for each row.
#include "select/radix.cuh"

namespace {

using namespace vamana::select;

constexpr int kThreads = 512;
constexpr int kPairs = 8;  // a thread, of the list in shared memory
constexpr int kReads = 4;

}  // namespace

extern "C" __global__ void __launch_bounds__(kThreads, 2)
    select_radix(const __grid_constant__ Select p) {
  __shared__ RadixShared<kThreads> radix;
  radix_row<kThreads, kPairs, kReads>(p, radix, reinterpret_cast<Pair*>(vamana::block_memory()));
}
