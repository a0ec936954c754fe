// Hits that were selected, or found in parts.
//
// exact_found: a block a query. Makes found of selected. exact_join: a block a query. Makes joined of
// found and earlier.
#include "vamana/exact_scan.h"

using namespace vamana;

extern "C" __global__ void exact_found(const __grid_constant__ ExactScan p) {
  const uint64_t offset = static_cast<uint64_t>(blockIdx.x) * p.k;
  const float* keys = reinterpret_cast<const float*>(p.selected_keys) + offset;
  const uint32_t* candidates = reinterpret_cast<const uint32_t*>(p.selected_candidates) + offset;
  uint64_t* found = reinterpret_cast<uint64_t*>(p.found) + offset;
  for (uint32_t i = threadIdx.x; i < p.k; i += blockDim.x) {
    found[i] = exact_hit(p, keys[i], candidates[i]);
  }
}

extern "C" __global__ void exact_join(const __grid_constant__ ExactScan p) {
  const uint64_t offset = static_cast<uint64_t>(blockIdx.x) * p.k;
  uint64_t* joined = reinterpret_cast<uint64_t*>(p.joined) + offset;
  for (int side = 0; side < 2; side++) {
    const uint64_t* own = reinterpret_cast<const uint64_t*>(side == 0 ? p.earlier : p.found) + offset;
    const uint64_t* other =
        reinterpret_cast<const uint64_t*>(side == 0 ? p.found : p.earlier) + offset;
    for (uint32_t i = threadIdx.x; i < p.k; i += blockDim.x) {
      const uint64_t key = own[i];
      uint32_t low = 0;
      uint32_t high = p.k;
      while (low < high) {
        const uint32_t middle = (low + high) / 2;
        // what is in neither list goes to its own place once: that of earlier first
        if (other[middle] < key || (side == 1 && other[middle] == key)) {
          low = middle + 1;
        } else {
          high = middle;
        }
      }
      if (i + low < p.k) {
        joined[i + low] = key;
      }
    }
  }
}
