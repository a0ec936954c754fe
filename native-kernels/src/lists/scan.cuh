// Estimates of the entries of a list; what the bound leaves open becomes candidates.
#pragma once

#include <cstdint>

#include "asymmetric.cuh"
#include "cta.cuh"
#include "lists/residual.cuh"
#include "lists/state.cuh"
#include "vamana/order.h"

namespace vamana {

// Inner product of the numbers of 32 components and 32 bits.
__device__ __forceinline__ int32_t plane_product(uint32_t code, uint4 planes) {
  return __popc(code & planes.x) + 2 * __popc(code & planes.y) + 4 * __popc(code & planes.z) -
         8 * __popc(code & planes.w);
}

__device__ __forceinline__ int32_t more_product(uint32_t code, uint4 low, uint4 high) {
  return __popc(code & low.x) + 2 * __popc(code & low.y) + 4 * __popc(code & low.z) +
         8 * __popc(code & low.w) + 16 * __popc(code & high.x) + 32 * __popc(code & high.y) +
         64 * __popc(code & high.z) - 128 * __popc(code & high.w);
}

// Whether an ordinal is one of the list, behind the one before it: so each is found once, however damaged the
// lists are.
template <class S>
__device__ __forceinline__ bool valid_entry(const S& s, const OpenList& open,
                                            const ListColumns& columns, uint32_t i,
                                            uint32_t ordinal) {
  if (ordinal >= s.control.segment.size ||
      __ldg(reinterpret_cast<const uint16_t*>(s.control.lists.numbers) + ordinal) != open.list) {
    return false;
  }
  const uint32_t at = i % kListBlock;
  if (i == 0) {
    return true;
  }
  const uint32_t before =
      at > 0 ? columns.numbers[at - 1]
             : list_columns(s.control.lists, open.address, open.places, i - kListBlock)
                   .numbers[kListBlock - 1];
  return before < ordinal;
}

template <class S>
__device__ __forceinline__ bool accepts_entry(const S& s, uint32_t ordinal) {
  const uint64_t* words = reinterpret_cast<const uint64_t*>(s.control.item.accepted);
  return words == nullptr || (words[ordinal >> 6] >> (ordinal & 63u) & 1u) != 0;
}

// The estimate from head and tail.
__device__ __forceinline__ ListEstimate refine(const Lists& lists, const OpenList& open,
                                               const ListColumns& columns, uint32_t i,
                                               const uint32_t* more) {
  const uint32_t* tail = reinterpret_cast<const uint32_t*>(
      open.address + static_cast<uint64_t>(open.places) * lists.head_bytes +
      static_cast<uint64_t>(i) * lists.tail_bytes);
  const uint4* planes = reinterpret_cast<const uint4*>(more);
  const uint32_t words = lists.padded / 32;
  const uint32_t at = i % kListBlock;
  int32_t first = 0;
  int32_t numbers = 0;
  for (uint32_t word = 0; word < words; word++) {
    const uint4 low = planes[2 * word];
    const uint4 high = planes[2 * word + 1];
    first += more_product(columns.words[2 * (word / 2 * columns.together + at) + word % 2], low,
                          high);
    for (uint32_t plane = 0; plane < lists.bits - 1; plane++) {
      numbers += more_product(__ldg(tail + 4 + plane * words + word), low, high) << plane;
    }
  }
  numbers -= (open.more_sum - first) << (lists.bits - 1);
  return list_refined(open.heads.base, open.more_step, open.more_sum, open.length, lists.padded,
                      lists.bits, numbers, __uint_as_float(__ldg(tail + 1)),
                      __uint_as_float(__ldg(tail + 2)), __uint_as_float(__ldg(tail + 3)));
}

// Sum of the table's entries that a code names, whose 64-bit words are `together` apart; by two sums, as
// dev.vamana.ivf.HeadBlock.
template <class Entry>
__device__ __forceinline__ typename SumOf<Entry>::Type sum_code(const Entry* table,
                                                                const uint2* words,
                                                                uint32_t together,
                                                                uint32_t subspaces) {
  typename SumOf<Entry>::Type sum = 0;
#pragma unroll 2
  for (uint32_t word = 0; word < subspaces / 8; word++) {
    const uint2 code = __ldg(words + word * together);
    typename SumOf<Entry>::Type sums[2] = {0, 0};
#pragma unroll
    for (uint32_t b = 0; b < 8; b++) {
      const uint32_t centroid = (b < 4 ? code.x : code.y) >> (b % 4 * 8) & 0xFFu;
      sums[b % 2] += table[b * kCentroids + centroid];
    }
    sum += sums[0] + sums[1];
    table += 8 * kCentroids;
  }
  if (subspaces % 8 != 0) {
    const uint2 code = __ldg(words + subspaces / 8 * together);
    uint64_t bytes = static_cast<uint64_t>(code.y) << 32 | code.x;
#pragma unroll 1
    for (uint32_t b = 0; b < subspaces % 8; b++) {
      sum += table[b * kCentroids + static_cast<uint32_t>(bytes & 0xFFu)];
      bytes >>= 8;
    }
  }
  return sum;
}

// The estimate from the head of an entry, whose place in `columns` is `at`.
template <class S>
__device__ __forceinline__ ListEstimate head_estimate(const S& s, const ListHeads& heads,
                                                      const ListColumns& columns, uint32_t at,
                                                      const uint4* planes) {
  const Lists& lists = s.control.lists;
  const uint32_t* numbers = columns.numbers + at;
  const float constant = __uint_as_float(__ldg(numbers + columns.together));
  const float factor = __uint_as_float(__ldg(numbers + 2 * columns.together));
  const float error = __uint_as_float(__ldg(numbers + 3 * columns.together));
  const uint2* codes = reinterpret_cast<const uint2*>(columns.words) + at;
  if constexpr (S::kQuantized) {
    const auto sum =
        sum_code(s.table, codes, columns.together, s.control.segment.subspaces);
    return list_quantized(heads, s.entries, static_cast<float>(sum), constant, factor, error);
  }
  const uint32_t words = lists.padded / 64;
  int32_t product = 0;
#pragma unroll 2
  for (uint32_t word = 0; word < words; word++) {
    const uint2 code = __ldg(codes + word * columns.together);
    product += plane_product(code.x, planes[2 * word]);
    product += plane_product(code.y, planes[2 * word + 1]);
  }
  return list_estimate(heads, product, constant, factor, error);
}

// Estimates the entries from..to-1, where from is a multiple of a block; more candidates than there is room
// for are counted only.
template <class S>
__device__ __forceinline__ void scan_entries(S& s, const OpenList& open, uint32_t from,
                                             uint32_t to) {
  const Lists& lists = s.control.lists;
  const uint4* planes = reinterpret_cast<const uint4*>(s.planes);
#pragma unroll 1
  for (uint32_t base = from + warp_id() * 32; base < to; base += S::kThreads) {
    const uint32_t i = base + lane_id();
    const ListColumns columns =
        list_columns(lists, open.address, open.places, base / kListBlock * kListBlock);
    const uint32_t at = i % kListBlock;
    bool keep = i < to;
    ListEstimate estimate = {0, 0};
    if (keep) {
      estimate = head_estimate(s, open.heads, columns, at, planes);
      keep = estimate.bound <= s.limit;
      if (keep) {
        const uint32_t ordinal = __ldg(columns.numbers + at);
        if (valid_entry(s, open, columns, i, ordinal) == false) {
          atomicOr(&s.control.flags, static_cast<uint32_t>(kCorrupt));
          keep = false;
        } else if (accepts_entry(s, ordinal) == false) {
          keep = false;
        } else if (S::kQuantized == false && lists.bits > 1) {
          estimate = refine(lists, open, columns, i, s.more);
          keep = estimate.bound <= s.limit;
        }
      }
    }
    const uint32_t slot = append_slot(keep, &s.control.candidate_count);
    if (keep && slot < kListCandidates) {
      s.candidates[slot] = static_cast<uint64_t>(sortable(estimate.distance)) << 32 | i;
      s.bounds[slot] = estimate.bound;
    }
  }
  cta_sync<S::kWarps>();
}

}  // namespace vamana
