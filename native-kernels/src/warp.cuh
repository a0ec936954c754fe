// Sums, maxima and combined bits of the 32 lanes of a warp, all of which take part. Devices from compute
// capability 8.0 on have one instruction for each; 7.5 exchanges values in five steps.
#pragma once

#include <cstdint>

namespace vamana {

constexpr uint32_t kAllLanes = 0xFFFFFFFFu;

#if __CUDA_ARCH__ >= 800

__device__ __forceinline__ uint32_t warp_sum(uint32_t value) {
  return __reduce_add_sync(kAllLanes, value);
}

__device__ __forceinline__ uint32_t warp_max(uint32_t value) {
  return __reduce_max_sync(kAllLanes, value);
}

__device__ __forceinline__ uint32_t warp_min(uint32_t value) {
  return __reduce_min_sync(kAllLanes, value);
}

__device__ __forceinline__ uint32_t warp_or(uint32_t value) {
  return __reduce_or_sync(kAllLanes, value);
}

#else

template <class Combine>
__device__ __forceinline__ uint32_t warp_combine(uint32_t value, Combine combine) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) {
    value = combine(value, __shfl_xor_sync(kAllLanes, value, distance));
  }
  return value;
}

__device__ __forceinline__ uint32_t warp_sum(uint32_t value) {
  return warp_combine(value, [](uint32_t a, uint32_t b) { return a + b; });
}

__device__ __forceinline__ uint32_t warp_max(uint32_t value) {
  return warp_combine(value, [](uint32_t a, uint32_t b) { return a > b ? a : b; });
}

__device__ __forceinline__ uint32_t warp_min(uint32_t value) {
  return warp_combine(value, [](uint32_t a, uint32_t b) { return a < b ? a : b; });
}

__device__ __forceinline__ uint32_t warp_or(uint32_t value) {
  return warp_combine(value, [](uint32_t a, uint32_t b) { return a | b; });
}

#endif

__device__ __forceinline__ float warp_sum(float value) {
#pragma unroll
  for (int stride = 16; stride > 0; stride >>= 1) {
    value += __shfl_xor_sync(kAllLanes, value, stride);
  }
  return value;
}

__device__ __forceinline__ float warp_max(float value) {
#pragma unroll
  for (int stride = 16; stride > 0; stride >>= 1) {
    value = fmaxf(value, __shfl_xor_sync(kAllLanes, value, stride));
  }
  return value;
}

__device__ __forceinline__ uint64_t warp_min(uint64_t value) {
#if __CUDA_ARCH__ >= 800
  const uint32_t own = static_cast<uint32_t>(value >> 32);
  const uint32_t high = __reduce_min_sync(kAllLanes, own);
  const uint32_t low = own == high ? static_cast<uint32_t>(value) : 0xFFFFFFFFu;
  return static_cast<uint64_t>(high) << 32 | __reduce_min_sync(kAllLanes, low);
#else
#pragma unroll
  for (int stride = 16; stride > 0; stride >>= 1) {
    uint64_t other = __shfl_xor_sync(kAllLanes, value, stride);
    value = other < value ? other : value;
  }
  return value;
#endif
}

}  // namespace vamana
