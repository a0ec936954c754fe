// Kernels that test a driver; vamana/probe.h describes them.
#include <cstdint>

#include "vamana/probe.h"

using namespace vamana;

extern "C" __global__ void probe_copy(const Probe p) {
  const uint64_t parts = static_cast<uint64_t>(p.rows) * (p.row_bytes / 16);
  const uint4* source = reinterpret_cast<const uint4*>(p.source);
  uint4* target = reinterpret_cast<uint4*>(p.target);
  for (uint64_t at = blockIdx.x * blockDim.x + threadIdx.x; at < parts;
       at += gridDim.x * blockDim.x) {
    target[at] = source[at];
  }
}

extern "C" __global__ void probe_trap(const Probe p) {
  if (p.hops != 0) {
    __trap();
  }
}
