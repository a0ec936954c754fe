// Asymmetric distances: the query's table, and sums of its entries over codes (BANG, sections 4.2
// and 4.5).
#pragma once

#include <cstdint>

#include "cta.cuh"
#include "vamana/score.h"
#include "vamana/table.h"
#include "vamana/types.h"

namespace vamana {

// Scale of a table of 16-bit entries. All threads call it; scratch is a word of shared memory
// for the block. Ends with a barrier.
template <int WARPS>
__device__ __forceinline__ float table_scale(const Segment& segment, bool euclidean,
                                             const float* query, float* scratch) {
  if (warp_id() == 0) {
    const float* norms = reinterpret_cast<const float*>(segment.centroid_norms);
    float range = 0;
    for (uint32_t s = lane_id(); s < segment.subspaces; s += 32) {
      uint32_t from = subspace_offset(segment.dimension, segment.subspaces, s);
      uint32_t to = subspace_offset(segment.dimension, segment.subspaces, s + 1);
      float norm2 = 0;
      for (uint32_t d = from; d < to; d++) {
        norm2 = fmaf(query[d], query[d], norm2);
      }
      range = fmaxf(range, entry_range(euclidean, sqrtf(norm2), norms[s]));
    }
    range = warp_max(range);
    if (lane_id() == 0) {
      *scratch = fixed_scale(range);
    }
  }
  cta_sync<WARPS>();
  return *scratch;
}

// A lane's entries of a subspace: of the four centroids from 4 * lane on, and as many 128 further on.
// Columns are requested some at a time, since nothing else hides their latency.
__device__ __forceinline__ void make_entries(const Segment& segment, bool euclidean,
                                             const float* query, uint32_t subspace,
                                             float4 (&entries)[2]) {
  const float4* columns = reinterpret_cast<const float4*>(segment.columns) + lane_id();
  uint32_t from = subspace_offset(segment.dimension, segment.subspaces, subspace);
  uint32_t to = subspace_offset(segment.dimension, segment.subspaces, subspace + 1);
  entries[0] = {0, 0, 0, 0};
  entries[1] = {0, 0, 0, 0};
#pragma unroll 4
  for (uint32_t d = from; d < to; d++) {
    const float q = query[d];
#pragma unroll
    for (uint32_t half = 0; half < 2; half++) {
      const float4 centroids = __ldg(columns + d * (kCentroids / 4) + half * 32);
      entries[half].x = entry_part(euclidean, entries[half].x, q, centroids.x);
      entries[half].y = entry_part(euclidean, entries[half].y, q, centroids.y);
      entries[half].z = entry_part(euclidean, entries[half].z, q, centroids.z);
      entries[half].w = entry_part(euclidean, entries[half].w, q, centroids.w);
    }
  }
}

// Fills the table of squared differences, or of negated products: entry of centroid c of subspace s at s * 256 + c. A warp makes a subspace's
// entries, so that it reads whole lines of the codebook's columns.
template <int WARPS>
__device__ __forceinline__ void fill_table(const Segment& segment, bool euclidean,
                                           const float* query, float* table) {
  for (uint32_t s = warp_id(); s < segment.subspaces; s += WARPS) {
    float4 entries[2];
    make_entries(segment, euclidean, query, s, entries);
#pragma unroll
    for (uint32_t half = 0; half < 2; half++) {
      reinterpret_cast<float4*>(table + s * kCentroids)[half * 32 + lane_id()] = entries[half];
    }
  }
}

__device__ __forceinline__ float smallest(float4 entries) {
  return fminf(fminf(entries.x, entries.y), fminf(entries.z, entries.w));
}

// As above, in 16 bits. Returns the sum of the smallest entries of the warp's subspaces.
template <int WARPS>
__device__ __forceinline__ float fill_table(const Segment& segment, bool euclidean,
                                            const float* query, float scale, uint16_t* table) {
  float bases = 0;
  for (uint32_t s = warp_id(); s < segment.subspaces; s += WARPS) {
    float4 entries[2];
    make_entries(segment, euclidean, query, s, entries);
    float base = -warp_max(-fminf(smallest(entries[0]), smallest(entries[1])));
    bases += base;
#pragma unroll
    for (uint32_t half = 0; half < 2; half++) {
      ushort4 fixed = {fixed_entry(entries[half].x, base, scale),
                       fixed_entry(entries[half].y, base, scale),
                       fixed_entry(entries[half].z, base, scale),
                       fixed_entry(entries[half].w, base, scale)};
      reinterpret_cast<ushort4*>(table + s * kCentroids)[half * 32 + lane_id()] = fixed;
    }
  }
  return bases;
}

// Type of sums of entries; sums of integers are exact.
template <typename Entry>
struct SumOf {
  using Type = float;
};

template <>
struct SumOf<uint16_t> {
  using Type = uint32_t;
};

// Sum of the entries that 16 bytes of a code name, of which the first `bytes` count.
template <typename Entry>
__device__ __forceinline__ typename SumOf<Entry>::Type sum_entries(const Entry* table, uint4 code,
                                                                   uint32_t bytes) {
  const uint32_t words[4] = {code.x, code.y, code.z, code.w};
  typename SumOf<Entry>::Type sum = 0;
#pragma unroll
  for (uint32_t b = 0; b < 16; b++) {
    if (b < bytes) {
      uint32_t centroid = (words[b / 4] >> (b % 4 * 8)) & 0xFFu;
      sum += table[b * kCentroids + centroid];
    }
  }
  return sum;
}

template <typename Entry>
__device__ __forceinline__ typename SumOf<Entry>::Type sum_whole(const Entry* table, uint4 code) {
  const uint32_t words[4] = {code.x, code.y, code.z, code.w};
  typename SumOf<Entry>::Type sums[4] = {0, 0, 0, 0};
#pragma unroll
  for (uint32_t b = 0; b < 16; b++) {
    uint32_t centroid = (words[b / 4] >> (b % 4 * 8)) & 0xFFu;
    sums[b % 4] += table[b * kCentroids + centroid];
  }
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

// Sums of so many codes, which `take` gets; pairs of lanes share a code.
template <typename Entry, int WARPS, class Take>
__device__ __forceinline__ void asymmetric_sums(const Segment& segment, const Entry* table,
                                                const uint32_t* ordinals, uint32_t count,
                                                Take take) {
  constexpr uint32_t kPass = WARPS * 16;
  const uint8_t* codes = reinterpret_cast<const uint8_t*>(segment.codes);
  const uint32_t half = threadIdx.x & 1u;
  for (uint32_t from = 0; from < count; from += kPass) {
    uint32_t i = from + threadIdx.x / 2;
    uint32_t ordinal = ordinals[i < count ? i : from];
    const uint4* code =
        reinterpret_cast<const uint4*>(codes + static_cast<uint64_t>(ordinal) * segment.code_stride);
    typename SumOf<Entry>::Type sum = 0;
#pragma unroll 2
    for (uint32_t chunk = half; chunk * 16 < segment.subspaces; chunk += 2) {
      uint4 bytes = __ldg(code + chunk);
      const Entry* entries = table + chunk * 16 * kCentroids;
      uint32_t left = segment.subspaces - chunk * 16;
      sum += left >= 16 ? sum_whole(entries, bytes) : sum_entries(entries, bytes, left);
    }
    sum += __shfl_xor_sync(kAllLanes, sum, 1);
    take(half == 0 && i < count, i, ordinal, Sums{static_cast<float>(sum), 0});
  }
}

}  // namespace vamana
