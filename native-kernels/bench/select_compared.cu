// Methods of this project that searches do not use, for comparison. select_bits_global, k at most
// kMaxGlobalK, leaves sorted results. Sample Select in two stages: after select_sample_splitters of
// src/select_large.cu come select_sample_count, select_sample_find and select_sample_split.
#include "select/bits_global.cuh"
#include "select/sample.cuh"

namespace {

using namespace vamana::select;

constexpr int kThreads = 512;
constexpr int kPairs = 8;  // a thread, of the list in shared memory
constexpr int kReads = 4;

}  // namespace

extern "C" __global__ void __launch_bounds__(kThreads, 2)
    select_bits_global(const __grid_constant__ Select p) {
  extern __shared__ __align__(16) unsigned char shared[];
  bits_global_row<kPairs, kThreads, kReads>(p, reinterpret_cast<Pair*>(shared));
}

extern "C" __global__ void __launch_bounds__(256, 4)
    select_sample_count(const __grid_constant__ Select p) {
  split_row<256, kReads, false>(p);
}

extern "C" __global__ void __launch_bounds__(kThreads, 2)
    select_sample_find(const __grid_constant__ Select p) {
  extern __shared__ __align__(16) unsigned char shared[];
  __shared__ RadixShared<kThreads> radix;
  finish_row<kThreads, kPairs, kReads, false>(p, radix, reinterpret_cast<Pair*>(shared));
}
