// Functions that kernels and the host library share.
#pragma once

#if defined(__CUDACC__)
#define VAMANA_HD __host__ __device__ __forceinline__
#else
#define VAMANA_HD inline
#endif

namespace vamana {

// A word that the host may have written since an earlier launch read it. The multiprocessor's cache does not keep it,
// and threads of a warp that ask for neighbouring words ask together. A volatile read would be a request over the bus
// for each thread: with those a walk waited 60 microseconds for its item where 6,000 were in flight.
template <class Word>
VAMANA_HD Word host_word(const Word* address) {
#ifdef __CUDA_ARCH__
  return __ldcg(address);
#else
  return *address;
#endif
}

}  // namespace vamana
