// Large k, any k and any order of the results: select_radix, a block for each row; and Sample Select,
// launches over rows or rows * partitions blocks: select_sample_splitters, select_sample_split and
// select_sample_finish.
#include "select/sample.cuh"

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

extern "C" __global__ void __launch_bounds__(kThreads, 2)
    select_sample_splitters(const __grid_constant__ Select p) {
  choose_splitters<kThreads>(p, reinterpret_cast<Pair*>(vamana::block_memory()));
}

extern "C" __global__ void __launch_bounds__(256, 4)
    select_sample_split(const __grid_constant__ Select p) {
  split_row<256, kReads>(p);
}

extern "C" __global__ void __launch_bounds__(kThreads, 2)
    select_sample_finish(const __grid_constant__ Select p) {
  __shared__ RadixShared<kThreads> radix;
  finish_row<kThreads, kPairs, kReads>(p, radix, reinterpret_cast<Pair*>(vamana::block_memory()));
}
