// Dot products with many rows of bytes at once. A lane requests a chunk of 16 bytes of each row before it uses the
// first, so that a step of a walk by few warps waits for memory once for each 128 bytes of a row, not once for
// every two rows of a team.
#pragma once

#include <cstdint>

#include "byte_dot.cuh"
#include "cta.cuh"
#include "exact.cuh"
#include "vamana/bytes.h"
#include "vamana/score.h"

namespace vamana {

// Rows that a team of a block of so many warps takes at once, as registers allow: fewer of copies that are not
// whole, which have two sums each. 0 for large blocks, whose teams have two rows a step, as exact_sums takes them.
template <int WARPS, bool WHOLE>
constexpr int kRowsAtOnce = WARPS <= 2 ? (WHOLE ? 8 : 6) : WARPS == 4 ? 4 : 0;

// Longer rows are faster two by two: of 784 bytes, a launch of 1,000 walks takes 283 us so, and 327 by six.
constexpr uint32_t kManyRowsBytes = 512;

// Sums over a team of COUNT numbers of each lane, which is 4 or 8. A lane gets that of the number
// lane / (kTeam / COUNT).
template <int COUNT>
__device__ __forceinline__ int32_t team_transposed_sum(int32_t (&numbers)[COUNT]) {
  constexpr int kShared = kTeam / COUNT;
#pragma unroll
  for (int stride = kTeam / 2; stride >= kShared; stride >>= 1) {
    const int half = stride / kShared;
    const bool upper = (threadIdx.x & stride) != 0;
#pragma unroll
    for (int i = 0; i < half; i++) {
      const int32_t other = upper ? numbers[i] : numbers[i + half];
      numbers[i] = upper ? numbers[i + half] : numbers[i];
      numbers[i] += __shfl_xor_sync(kAllLanes, other, stride);
    }
  }
#pragma unroll
  for (int stride = kShared / 2; stride > 0; stride >>= 1) {
    numbers[0] += __shfl_xor_sync(kAllLanes, numbers[0], stride);
  }
  return numbers[0];
}

// Adds a chunk of each row to the row's two products. The first is with the query's high bytes. The second is with
// the query's low bytes if rows are copies, and else of the row with itself. `query` is laid out by pack_query.
template <int ROWS, int COUNT>
__device__ __forceinline__ void add_chunks(const uint4 (&chunks)[ROWS], const uint4* query,
                                           uint32_t quarter_stride, bool copies,
                                           int32_t (&first)[COUNT], int32_t (&second)[COUNT]) {
#pragma unroll
  for (int quarter = 0; quarter < 4; quarter++) {
    const uint2 q = *reinterpret_cast<const uint2*>(query + quarter * quarter_stride);
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
      const uint4 chunk = chunks[r];
      const uint32_t word = quarter == 0   ? chunk.x
                            : quarter == 1 ? chunk.y
                            : quarter == 2 ? chunk.z
                                           : chunk.w;
      first[r] = dot_bytes(word, q.x, first[r]);
      second[r] = dot_bytes(word, copies ? q.y : word, second[r]);
    }
  }
}

// Sums of so many rows of bytes, which `take` gets, each by a lane. Rows start at multiples of 16 bytes. WHOLE:
// rows are whole copies, and pack_whole_query has laid out the query.
template <int WARPS, bool WHOLE, class Take>
__device__ __forceinline__ void byte_sums(const Rows& rows, const float* query, uint32_t padded,
                                          const uint32_t* ordinals, uint32_t count, Take take) {
  constexpr int kRows = kRowsAtOnce<WARPS, WHOLE>;
  constexpr int kCount = kRows <= 4 ? 4 : kTeam;
  constexpr uint32_t kShared = kTeam / kCount;  // lanes that get the sum of one row
  constexpr uint32_t kTeams = WARPS * kTeamsPerWarp;
  constexpr uint32_t kComponents = Chunk<kByte>::kComponents;
  const uint32_t team = threadIdx.x / kTeam;
  const uint32_t lane = threadIdx.x & (kTeam - 1);
  const uint32_t chunks = padded / kComponents;
  const uint32_t stride = rows.stride / 16;
  const uint4* base = reinterpret_cast<const uint4*>(rows.base);
  const uint4* query4 = reinterpret_cast<const uint4*>(query);
  const bool copies = WHOLE || rows.facts != nullptr;
#pragma unroll 1
  for (uint32_t from = 0; from < count; from += kTeams * kRows) {
    const uint32_t place = from + lane / kShared * kTeams + team;
    const bool own = lane % kShared == 0 && lane / kShared < kRows && place < count;
    const uint32_t ordinal = ordinals[own ? place : from];
    // asked for before the rows, and there when these are
    ByteFacts facts = {0, 0};
    if constexpr (WHOLE) {
      facts.norm2 = __ldg(&rows.facts[ordinal].norm2);
    } else if (copies) {
      const float2 loaded = __ldg(reinterpret_cast<const float2*>(rows.facts) + ordinal);
      facts = {loaded.x, loaded.y};
    }
    int32_t first[kCount] = {};
    int32_t second[kCount] = {};
#pragma unroll 1
    for (uint32_t c = lane; c < chunks; c += kTeam) {
      uint4 loaded[kRows];
#pragma unroll
      for (int r = 0; r < kRows; r++) {
        // places behind the last row read one that is read anyway: a condition would take registers
        const uint32_t i = from + r * kTeams + team;
        loaded[r] = __ldg(base + static_cast<uint64_t>(ordinals[i < count ? i : from]) * stride + c);
      }
      if constexpr (WHOLE) {
        const uint4 q = query4[c];
#pragma unroll
        for (int r = 0; r < kRows; r++) {
          first[r] = dot_chunks(loaded[r], q, first[r]);
        }
      } else {
        const uint32_t valid = rows.dimension - c * kComponents;
        if (valid < kComponents) {
#pragma unroll
          for (int r = 0; r < kRows; r++) {
            loaded[r] = first_bytes(loaded[r], valid);
          }
        }
        add_chunks(loaded, query4 + c, chunks, copies, first, second);
      }
    }
    const int32_t product = team_transposed_sum(first);
    Sums sums;
    if constexpr (WHOLE) {
      sums = whole_sums(product, facts.norm2);
    } else {
      const int32_t other = team_transposed_sum(second);
      sums = copies ? copy_sums(product, other, facts)
                    : Sums{__int_as_float(product), __int_as_float(other)};
    }
    take(own, place, ordinal, sums);
  }
}

}  // namespace vamana
