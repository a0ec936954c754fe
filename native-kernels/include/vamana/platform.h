// Functions that kernels and the host library share.
#pragma once

#if defined(__CUDACC__)
#define VAMANA_HD __host__ __device__ __forceinline__
#else
#define VAMANA_HD inline
#endif
