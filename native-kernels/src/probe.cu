// Measurements of what a device can do at most; vamana/probe.h describes them.
#include "vamana/probe.h"

#include "warp.cuh"

namespace {

using namespace vamana;

__device__ __forceinline__ uint32_t thread_number() {
  return blockIdx.x * blockDim.x + threadIdx.x;
}

__device__ __forceinline__ uint32_t thread_count() { return gridDim.x * blockDim.x; }

__device__ __forceinline__ uint32_t fold(uint4 part) {
  return part.x ^ part.y ^ part.z ^ part.w;
}

__device__ __forceinline__ const uint4* parts_of(const Probe& p, uint32_t row) {
  return reinterpret_cast<const uint4*>(p.source + static_cast<uint64_t>(row) * p.row_bytes);
}

__device__ __forceinline__ void join(const Probe& p, uint32_t folded) {
  folded = warp_xor(folded);
  if (threadIdx.x % 32 == 0) {
    atomicXor(reinterpret_cast<uint32_t*>(p.target), folded);
  }
}

}  // namespace

extern "C" __global__ void probe_copy(const Probe p) {
  const uint64_t parts = static_cast<uint64_t>(p.rows) * (p.row_bytes / 16);
  const uint4* source = reinterpret_cast<const uint4*>(p.source);
  uint4* target = reinterpret_cast<uint4*>(p.target);
  for (uint64_t at = thread_number(); at < parts; at += thread_count()) {
    target[at] = source[at];
  }
}

extern "C" __global__ void probe_gather(const Probe p) {
  const uint32_t lane = threadIdx.x % kProbeGroup;
  const uint32_t groups = thread_count() / kProbeGroup;
  uint32_t folded = 0;
#pragma unroll 4
  for (uint32_t read = thread_number() / kProbeGroup; read < p.chains; read += groups) {
    const uint4* row = parts_of(p, probe_row(read ^ p.seed, p.rows));
    for (uint32_t part = lane; part < p.row_bytes / 16; part += kProbeGroup) {
      folded ^= fold(__ldg(row + part));
    }
  }
  join(p, folded);
}

extern "C" __global__ void probe_chase(const Probe p) {
  const uint32_t lane = threadIdx.x % kProbeGroup;
  const uint32_t groups = thread_count() / kProbeGroup;
  const uint32_t mask = 0xFFFFu << (threadIdx.x % 32 / kProbeGroup * kProbeGroup);
  uint32_t folded = 0;
  for (uint32_t chain = thread_number() / kProbeGroup; chain < p.chains; chain += groups) {
    uint32_t row = probe_row(chain ^ p.seed, p.rows);
    for (uint32_t hop = 0; hop < p.hops; hop++) {
      uint32_t first = 0;
      for (uint32_t part = lane; part < p.row_bytes / 16; part += kProbeGroup) {
        const uint4 loaded = __ldg(parts_of(p, row) + part);
        first = part == 0 ? loaded.x : first;
        folded ^= fold(loaded);
      }
      row = probe_next(__shfl_sync(mask, first, 0, kProbeGroup), chain, hop, p.rows);
    }
  }
  join(p, folded);
}

extern "C" __global__ void probe_trap(const Probe p) {
  if (p.hops != 0) {
    __trap();
  }
}
