// The beginning of a search: the item, its query as exact scores need it, and rotated.
#pragma once

#include <cstdint>

#include "asymmetric.cuh"
#include "byte_dot.cuh"
#include "cta.cuh"
#include "exact.cuh"
#include "query.cuh"
#include "lists/state.cuh"
#include "lists/team.cuh"

namespace vamana {

// Takes the next item of the launch; false if there is none left. Ends with a barrier.
template <class S>
__device__ __forceinline__ bool take_list_item(S& s) {
  uint32_t next = blockIdx.x;
  if constexpr (S::kWaves) {
    if (has_team(s.search)) {
      if (s.begun) {
        return false;
      }
      next = team_number(s.search);
    }
    if (threadIdx.x == 32 && s.begun == false) {
      join_team(s);
    }
  }
  if (s.begun) {
    if (threadIdx.x == 0) {
      s.control.next = gridDim.x + atomicAdd(reinterpret_cast<uint32_t*>(s.search.counter), 1u);
    }
    cta_sync<S::kWarps>();
    next = s.control.next;
  }
  s.begun = true;
  if (next >= s.search.count) {
    return false;
  }
  if (warp_id() == 0) {
    copy_host_words(s.control.item, item_address(s.search, next));
    __syncwarp();
    copy_descriptor(s, s.control.item.segment);
    if (lane_id() < kListWave) {
      s.control.slot_counts[lane_id()] = 0;
    }
    if (lane_id() == 0) {
      s.control.flags = 0;
      s.control.candidate_count = 0;
      s.control.visited = 0;
      s.control.all_hits = 0;
    }
  }
  cta_sync<S::kWarps>();
  return true;
}

// The query as exact scores read it, and as lists see it: of unit length for COSINE.
template <class S>
__device__ __forceinline__ void load_list_query(S& s) {
  const Segment& segment = s.control.segment;
  const Lists& lists = s.control.lists;
  const uint32_t padded = up16(segment.dimension);
  float norm2 = 0;
  uint32_t squares = 0;
  for (uint32_t d = threadIdx.x; d < padded; d += S::kThreads) {
    const float q = d < segment.dimension ? query_component(segment, s.control.item, d) : 0;
    s.query[query_place<S::kFormat>(d, padded)] = q;
    norm2 = fmaf(q, q, norm2);
    squares += static_cast<uint32_t>(static_cast<int32_t>(q) * static_cast<int32_t>(q));
  }
  norm2 = cta_sum<S::kWarps>(norm2, s.keys);
  if constexpr (S::kFormat == kByte) {
    keep_field<S>(s.query_norm2, __uint_as_float(cta_sum<S::kWarps>(squares, s.keys)));
  } else {
    keep_field<S>(s.query_norm2, norm2);
  }
  const float scale = lists.estimates == kEstimateCosine && norm2 > 0 ? 1 / sqrtf(norm2) : 1;
  for (uint32_t d = threadIdx.x; d < lists.padded; d += S::kThreads) {
    s.rotated[d] =
        d < segment.dimension ? scale * s.query[query_place<S::kFormat>(d, padded)] : 0;
  }
  cta_sync<S::kWarps>();
  if constexpr (S::kFormat == kByte) {
    pack_query<S::kThreads>(s.query, padded, kWholeBytes);
    cta_sync<S::kWarps>();
  }
}

// dev.vamana.ivf.Rotation.apply.
template <class S>
__device__ __forceinline__ void rotate_randomly(S& s) {
  const Lists& lists = s.control.lists;
  const float* signs = reinterpret_cast<const float*>(lists.signs);
  const float half_root = 0.70710678118f;
  for (uint32_t round = 0; round < lists.rounds; round++) {
    for (uint32_t d = threadIdx.x; d < lists.padded; d += S::kThreads) {
      s.rotated[d] *= __ldg(signs + round * lists.padded + d);
    }
    cta_sync<S::kWarps>();
    float* x = s.rotated + (round % 2 == 0 ? 0 : lists.padded - lists.transformed);
    uint32_t half = 1;
    // two steps between barriers
    for (; half * 4 <= lists.transformed; half *= 4) {
      for (uint32_t four = threadIdx.x; four < lists.transformed / 4; four += S::kThreads) {
        const uint32_t i = 4 * four - 3 * (four & (half - 1));
        const float a = x[i] + x[i + half];
        const float b = x[i] - x[i + half];
        const float c = x[i + 2 * half] + x[i + 3 * half];
        const float d = x[i + 2 * half] - x[i + 3 * half];
        x[i] = a + c;
        x[i + half] = b + d;
        x[i + 2 * half] = a - c;
        x[i + 3 * half] = b - d;
      }
      cta_sync<S::kWarps>();
    }
    if (half < lists.transformed) {
      for (uint32_t pair = threadIdx.x; pair < half; pair += S::kThreads) {
        const float a = x[pair];
        const float b = x[pair + half];
        x[pair] = a + b;
        x[pair + half] = a - b;
      }
      cta_sync<S::kWarps>();
    }
    if (lists.transformed != lists.padded) {
      const uint32_t half = lists.padded / 2;
      for (uint32_t d = threadIdx.x; d < half; d += S::kThreads) {
        const float a = s.rotated[d];
        const float b = s.rotated[d + half];
        s.rotated[d] = (a + b) * half_root;
        s.rotated[d + half] = (a - b) * half_root;
      }
      cta_sync<S::kWarps>();
    }
  }
}

// The query as centroids are. Ends with a barrier, behind which the squared norm is kept.
template <class S>
__device__ __forceinline__ void rotate(S& s) {
  if constexpr (S::kQuantized == false) {
    rotate_randomly(s);
  }
  float norm2 = 0;
  for (uint32_t d = threadIdx.x; d < s.control.lists.padded; d += S::kThreads) {
    norm2 = fmaf(s.rotated[d], s.rotated[d], norm2);
  }
  keep_field<S>(s.rotated_norm2, cta_sum<S::kWarps>(norm2, s.keys));
}

// The table of the rotated query, for all lists. A barrier comes before its entries are read.
template <class S>
__device__ __forceinline__ void make_table(S& s) {
  const Segment& segment = s.control.segment;
  if constexpr (S::kCodes == kListTable) {
    float* scratch = reinterpret_cast<float*>(s.keys);
    const float scale = table_scale<S::kWarps>(segment, false, s.rotated, scratch);
    cta_sync<S::kWarps>();
    // all lanes of a warp have its sum
    const float of_warp = fill_table<S::kWarps>(segment, false, s.rotated, scale, s.table);
    const float smallest = cta_sum<S::kWarps>(lane_id() == 0 ? of_warp : 0, s.keys);
    keep_field<S>(s.entries, list_table(scale, smallest, segment.subspaces));
  } else if constexpr (S::kCodes == kListTableGlobal) {
    fill_table<S::kWarps>(segment, false, s.rotated, s.table);
    keep_field<S>(s.entries, whole_table());
  }
}

}  // namespace vamana
