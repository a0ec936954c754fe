// Exact distances: teams of 8 lanes take vectors, a lane takes 16-byte chunks of them.
#pragma once

#include <cstdint>

#include "byte_dot.cuh"
#include "cta.cuh"
#include "half.cuh"
#include "vamana/bytes.h"
#include "vamana/score.h"
#include "vamana/types.h"

namespace vamana {

constexpr int kTeam = 8;
constexpr int kTeamsPerWarp = 32 / kTeam;

// Components of a 16-byte chunk, and how many vectors and chunks a lane of a one-warp block requests
// before it uses the first, as registers allow.
template <uint32_t FORMAT>
struct Chunk;

template <>
struct Chunk<kFloat32> {
  static constexpr int kComponents = 4;
  static constexpr int kVectors = 2;
  static constexpr int kLoads = 2;
};

template <>
struct Chunk<kFloat16> {
  static constexpr int kComponents = 8;
  static constexpr int kVectors = 2;
  static constexpr int kLoads = 2;
};

template <>
struct Chunk<kByte> {
  static constexpr int kComponents = 16;
  static constexpr int kVectors = 2;
  static constexpr int kLoads = 1;
};

// Rows of vectors as kernels read them.
struct Rows {
  const uint8_t* base;
  uint32_t stride;
  uint32_t dimension;
  const ByteFacts* facts;  // of copies in bytes, or null
  bool aligned;  // rows start at multiples of 16 bytes, and are as long
  bool whole = false;  // copies are whole, and pack_whole_query has laid out a query that is as whole
};

// Place of component d in the query's copy in shared memory: chunk by chunk within each quarter of a
// chunk, so that neighbouring lanes read neighbouring 16 bytes.
template <uint32_t FORMAT>
__device__ __forceinline__ uint32_t query_place(uint32_t d, uint32_t padded) {
  constexpr uint32_t kComponents = Chunk<FORMAT>::kComponents;
  uint32_t chunk = d / kComponents;
  uint32_t within = d % kComponents;
  return ((within / 4) * (padded / kComponents) + chunk) * 4 + within % 4;
}

template <uint32_t FORMAT>
__device__ __forceinline__ float load_component(const uint8_t* row, uint32_t d) {
  if constexpr (FORMAT == kFloat32) {
    return reinterpret_cast<const float*>(row)[d];
  } else {
    return half_value(reinterpret_cast<const uint16_t*>(row)[d]);
  }
}

template <uint32_t FORMAT>
__device__ __forceinline__ void accumulate_chunk(Sums& sums, bool euclidean, uint4 chunk,
                                                 const float4* query, uint32_t quarter_stride) {
  constexpr int kQuarters = Chunk<FORMAT>::kComponents / 4;
  const uint32_t words[4] = {chunk.x, chunk.y, chunk.z, chunk.w};
#pragma unroll
  for (int quarter = 0; quarter < kQuarters; quarter++) {
    float4 q = query[quarter * quarter_stride];
    float x[4];
    if constexpr (FORMAT == kFloat32) {
      x[0] = __uint_as_float(words[0]);
      x[1] = __uint_as_float(words[1]);
      x[2] = __uint_as_float(words[2]);
      x[3] = __uint_as_float(words[3]);
    } else {
      float2 low = half_values(words[quarter * 2]);
      float2 high = half_values(words[quarter * 2 + 1]);
      x[0] = low.x;
      x[1] = low.y;
      x[2] = high.x;
      x[3] = high.y;
    }
    accumulate(sums, euclidean, q.x, x[0]);
    accumulate(sums, euclidean, q.y, x[1]);
    accumulate(sums, euclidean, q.z, x[2]);
    accumulate(sums, euclidean, q.w, x[3]);
  }
}

// Sums of a lane's chunks of up to kVectors rows. `query` is laid out by query_place for FORMAT.
template <uint32_t FORMAT, int LOADS>
__device__ __forceinline__ void lane_sums(const Rows& rows, bool euclidean, const float* query,
                                          uint32_t padded,
                                          const uint32_t (&ordinals)[Chunk<FORMAT>::kVectors],
                                          Sums (&sums)[Chunk<FORMAT>::kVectors]) {
  constexpr int kVectors = Chunk<FORMAT>::kVectors;
  constexpr uint32_t kComponents = Chunk<FORMAT>::kComponents;
  const uint32_t lane = threadIdx.x & (kTeam - 1);
  const uint32_t quarter_stride = padded / kComponents;
  const float4* query4 = reinterpret_cast<const float4*>(query);
  const uint8_t* row[kVectors];
#pragma unroll
  for (int v = 0; v < kVectors; v++) {
    row[v] = rows.base + static_cast<uint64_t>(ordinals[v]) * rows.stride;
    sums[v] = {0, 0};
  }
  const uint32_t whole = rows.aligned ? rows.dimension / kComponents : 0;
#pragma unroll 1
  for (uint32_t c = lane; c < whole; c += kTeam * LOADS) {
    uint4 chunks[kVectors][LOADS];
#pragma unroll
    for (int load = 0; load < LOADS; load++) {
#pragma unroll
      for (int v = 0; v < kVectors; v++) {
        if (c + load * kTeam < whole) {
          chunks[v][load] = __ldg(reinterpret_cast<const uint4*>(row[v]) + c + load * kTeam);
        }
      }
    }
#pragma unroll
    for (int load = 0; load < LOADS; load++) {
      if (c + load * kTeam < whole) {
#pragma unroll
        for (int v = 0; v < kVectors; v++) {
          accumulate_chunk<FORMAT>(sums[v], euclidean, chunks[v][load],
                                   query4 + c + load * kTeam, quarter_stride);
        }
      }
    }
  }
#pragma unroll 1
  for (uint32_t d = whole * kComponents + lane; d < rows.dimension; d += kTeam) {
    float q = query[query_place<FORMAT>(d, padded)];
#pragma unroll
    for (int v = 0; v < kVectors; v++) {
      accumulate(sums[v], euclidean, q, load_component<FORMAT>(row[v], d));
    }
  }
}

// Sums of up to kVectors rows, the same for all lanes of the team.
template <uint32_t FORMAT, int LOADS>
__device__ __forceinline__ void team_sums(const Rows& rows, bool euclidean, const float* query,
                                          uint32_t padded,
                                          const uint32_t (&ordinals)[Chunk<FORMAT>::kVectors],
                                          Sums (&sums)[Chunk<FORMAT>::kVectors]) {
  lane_sums<FORMAT, LOADS>(rows, euclidean, query, padded, ordinals, sums);
#pragma unroll
  for (int v = 0; v < Chunk<FORMAT>::kVectors; v++) {
#pragma unroll
    for (int stride = kTeam / 2; stride > 0; stride >>= 1) {
      sums[v].first += __shfl_xor_sync(kAllLanes, sums[v].first, stride);
      if (euclidean == false) {
        sums[v].second += __shfl_xor_sync(kAllLanes, sums[v].second, stride);
      }
    }
  }
}

// Sums of two rows: of the first for the lower half of the team, of the second for the upper one. Lanes
// add in the order of team_sums, so that the sums are the same to the last bit.
template <uint32_t FORMAT, int LOADS>
__device__ __forceinline__ Sums team_half_sums(const Rows& rows, bool euclidean, const float* query,
                                               uint32_t padded, const uint32_t (&ordinals)[2]) {
  Sums sums[2];
  lane_sums<FORMAT, LOADS>(rows, euclidean, query, padded, ordinals, sums);
  const bool upper = (threadIdx.x & (kTeam / 2)) != 0;
  Sums own = upper ? sums[1] : sums[0];
  const Sums other = upper ? sums[0] : sums[1];
  own.first += __shfl_xor_sync(kAllLanes, other.first, kTeam / 2);
  if (euclidean == false) {
    own.second += __shfl_xor_sync(kAllLanes, other.second, kTeam / 2);
  }
#pragma unroll
  for (int stride = kTeam / 4; stride > 0; stride >>= 1) {
    own.first += __shfl_xor_sync(kAllLanes, own.first, stride);
    if (euclidean == false) {
      own.second += __shfl_xor_sync(kAllLanes, own.second, stride);
    }
  }
  return own;
}

// Dot products of up to kVectors rows of bytes with a query that pack_query has laid out, the same for all
// lanes of the team: the first with its high bytes, the second of copies with its low ones, and of other
// rows with themselves.
template <int LOADS>
__device__ __forceinline__ void team_products(const Rows& rows, const float* query, uint32_t padded,
                                              const uint32_t (&ordinals)[Chunk<kByte>::kVectors],
                                              int32_t (&first)[Chunk<kByte>::kVectors],
                                              int32_t (&second)[Chunk<kByte>::kVectors]) {
  constexpr int kVectors = Chunk<kByte>::kVectors;
  constexpr uint32_t kComponents = Chunk<kByte>::kComponents;
  const uint32_t lane = threadIdx.x & (kTeam - 1);
  const uint32_t quarter_stride = padded / kComponents;
  const uint4* query4 = reinterpret_cast<const uint4*>(query);
  const bool copies = rows.facts != nullptr;
  const uint8_t* row[kVectors];
#pragma unroll
  for (int v = 0; v < kVectors; v++) {
    row[v] = rows.base + static_cast<uint64_t>(ordinals[v]) * rows.stride;
    first[v] = 0;
    second[v] = 0;
  }
  const uint32_t chunk_count = rows.aligned ? quarter_stride : 0;
#pragma unroll 1
  for (uint32_t c = lane; c < chunk_count; c += kTeam * LOADS) {
    uint4 chunks[kVectors][LOADS];
#pragma unroll
    for (int load = 0; load < LOADS; load++) {
#pragma unroll
      for (int v = 0; v < kVectors; v++) {
        if (c + load * kTeam < chunk_count) {
          chunks[v][load] = __ldg(reinterpret_cast<const uint4*>(row[v]) + c + load * kTeam);
        }
      }
    }
#pragma unroll
    for (int load = 0; load < LOADS; load++) {
      const uint32_t at = c + load * kTeam;
      if (at < chunk_count) {
        if (rows.dimension - at * kComponents < kComponents) {
#pragma unroll
          for (int v = 0; v < kVectors; v++) {
            chunks[v][load] = first_bytes(chunks[v][load], rows.dimension - at * kComponents);
          }
        }
#pragma unroll
        for (int quarter = 0; quarter < 4; quarter++) {
          const uint2 q = *reinterpret_cast<const uint2*>(query4 + quarter * quarter_stride + at);
#pragma unroll
          for (int v = 0; v < kVectors; v++) {
            const uint4 chunk = chunks[v][load];
            const uint32_t word = quarter == 0   ? chunk.x
                                  : quarter == 1 ? chunk.y
                                  : quarter == 2 ? chunk.z
                                                 : chunk.w;
            first[v] = dot_bytes(word, q.x, first[v]);
            second[v] = dot_bytes(word, copies ? q.y : word, second[v]);
          }
        }
      }
    }
  }
  if (rows.aligned == false) {
#pragma unroll 1
    for (uint32_t d = lane; d < rows.dimension; d += kTeam) {
      const uint32_t word = query_place<kByte>(d & ~3u, padded);
      const int32_t q = reinterpret_cast<const int8_t*>(query + word)[d & 3u];
#pragma unroll
      for (int v = 0; v < kVectors; v++) {
        const int32_t x = reinterpret_cast<const int8_t*>(row[v])[d];
        first[v] += q * x;
        second[v] += x * x;
      }
    }
  }
#pragma unroll
  for (int v = 0; v < kVectors; v++) {
#pragma unroll
    for (int stride = kTeam / 2; stride > 0; stride >>= 1) {
      first[v] += __shfl_xor_sync(kAllLanes, first[v], stride);
      second[v] += __shfl_xor_sync(kAllLanes, second[v], stride);
    }
  }
}

// As team_sums, of rows of bytes.
template <int LOADS>
__device__ __forceinline__ void team_byte_sums(const Rows& rows, const float* query,
                                               uint32_t padded,
                                               const uint32_t (&ordinals)[Chunk<kByte>::kVectors],
                                               Sums (&sums)[Chunk<kByte>::kVectors]) {
  constexpr int kVectors = Chunk<kByte>::kVectors;
  int32_t first[kVectors];
  int32_t second[kVectors];
  // asked for before the rows, and there when these are
  float2 facts[kVectors];
#pragma unroll
  for (int v = 0; v < kVectors; v++) {
    facts[v] = rows.facts == nullptr
                   ? float2{0, 0}
                   : __ldg(reinterpret_cast<const float2*>(rows.facts) + ordinals[v]);
  }
  team_products<LOADS>(rows, query, padded, ordinals, first, second);
#pragma unroll
  for (int v = 0; v < kVectors; v++) {
    sums[v] = rows.facts == nullptr
                  ? Sums{__int_as_float(first[v]), __int_as_float(second[v])}
                  : copy_sums(first[v], second[v], ByteFacts{facts[v].x, facts[v].y});
  }
}

// A lane's part of the dot products of two rows of whole copies with a whole query. Bytes behind the last
// component are zero in both.
template <int LOADS>
__device__ __forceinline__ void lane_whole_products(const Rows& rows, const float* query,
                                                    uint32_t padded, const uint32_t (&ordinals)[2],
                                                    int32_t (&sums)[2]) {
  const uint32_t lane = threadIdx.x & (kTeam - 1);
  const uint32_t chunk_count = padded / Chunk<kByte>::kComponents;
  const uint4* query4 = reinterpret_cast<const uint4*>(query);
  const uint8_t* row[2];
#pragma unroll
  for (int v = 0; v < 2; v++) {
    row[v] = rows.base + static_cast<uint64_t>(ordinals[v]) * rows.stride;
    sums[v] = 0;
  }
#pragma unroll 1
  for (uint32_t c = lane; c < chunk_count; c += kTeam * LOADS) {
    uint4 chunks[2][LOADS];
#pragma unroll
    for (int load = 0; load < LOADS; load++) {
#pragma unroll
      for (int v = 0; v < 2; v++) {
        if (c + load * kTeam < chunk_count) {
          chunks[v][load] = __ldg(reinterpret_cast<const uint4*>(row[v]) + c + load * kTeam);
        }
      }
    }
#pragma unroll
    for (int load = 0; load < LOADS; load++) {
      if (c + load * kTeam < chunk_count) {
        const uint4 q = query4[c + load * kTeam];
#pragma unroll
        for (int v = 0; v < 2; v++) {
          sums[v] = dot_chunks(chunks[v][load], q, sums[v]);
        }
      }
    }
  }
}

// The sums of a row of whole copies: integers, as of a segment's own bytes.
__device__ __forceinline__ Sums whole_sums(int32_t product, float norm2) {
  return {__int_as_float(product), __int_as_float(static_cast<int32_t>(norm2))};
}

// As team_half_sums, of whole copies.
template <int LOADS>
__device__ __forceinline__ Sums team_half_whole_sums(const Rows& rows, const float* query,
                                                     uint32_t padded,
                                                     const uint32_t (&ordinals)[2]) {
  const bool upper = (threadIdx.x & (kTeam / 2)) != 0;
  // asked for before the rows, and there when these are
  const float norm2 = __ldg(&rows.facts[upper ? ordinals[1] : ordinals[0]].norm2);
  int32_t sums[2];
  lane_whole_products<LOADS>(rows, query, padded, ordinals, sums);
  int32_t own = upper ? sums[1] : sums[0];
  own += __shfl_xor_sync(kAllLanes, upper ? sums[0] : sums[1], kTeam / 2);
#pragma unroll
  for (int stride = kTeam / 4; stride > 0; stride >>= 1) {
    own += __shfl_xor_sync(kAllLanes, own, stride);
  }
  return whole_sums(own, norm2);
}

// As team_sums, of whole copies.
template <int LOADS>
__device__ __forceinline__ void team_whole_sums(const Rows& rows, const float* query,
                                                uint32_t padded, const uint32_t (&ordinals)[2],
                                                Sums (&sums)[2]) {
  float norm2[2];
#pragma unroll
  for (int v = 0; v < 2; v++) {
    norm2[v] = __ldg(&rows.facts[ordinals[v]].norm2);
  }
  int32_t products[2];
  lane_whole_products<LOADS>(rows, query, padded, ordinals, products);
#pragma unroll
  for (int v = 0; v < 2; v++) {
#pragma unroll
    for (int stride = kTeam / 2; stride > 0; stride >>= 1) {
      products[v] += __shfl_xor_sync(kAllLanes, products[v], stride);
    }
    sums[v] = whole_sums(products[v], norm2[v]);
  }
}

// Takes sums in, by their place among the ordinals. All lanes of a warp call a taker, with what is
// theirs.
struct StoreSums {
  static constexpr bool kTogether = false;

  Sums* sums;

  __device__ __forceinline__ void operator()(bool own, uint32_t place, uint32_t ordinal, Sums found) {
    if (own) {
      sums[place] = found;
    }
  }
};

// Sums of so many rows, which `take` gets; a lane requests LOADS chunks of each of its rows at a
// time. WHOLE: rows may be whole copies.
template <uint32_t FORMAT, int WARPS, int LOADS, bool WHOLE = false, class Take>
__device__ __forceinline__ void exact_sums(const Rows& rows, bool euclidean, const float* query,
                                           uint32_t padded, const uint32_t* ordinals,
                                           uint32_t count, Take take) {
  constexpr int kVectors = Chunk<FORMAT>::kVectors;
  constexpr uint32_t kTeams = WARPS * kTeamsPerWarp;
  const uint32_t team = threadIdx.x / kTeam;
  const uint32_t lane = threadIdx.x & (kTeam - 1);
#pragma unroll 1
  for (uint32_t from = 0; from < count; from += kTeams * kVectors) {
    uint32_t own[kVectors];
    Sums own_sums[kVectors];
#pragma unroll
    for (int v = 0; v < kVectors; v++) {
      uint32_t i = from + v * kTeams + team;
      own[v] = ordinals[i < count ? i : from];
    }
    if constexpr (FORMAT == kByte) {
      if (WHOLE && rows.whole) {
        team_whole_sums<LOADS>(rows, query, padded, own, own_sums);
      } else {
        team_byte_sums<LOADS>(rows, query, padded, own, own_sums);
      }
    } else {
      team_sums<FORMAT, LOADS>(rows, euclidean, query, padded, own, own_sums);
    }
    // a lane of the team hands on each vector, so that they take one turn
    uint32_t ordinal = own[0];
    Sums found = own_sums[0];
#pragma unroll
    for (int v = 1; v < kVectors; v++) {
      ordinal = lane == v ? own[v] : ordinal;
      found.first = lane == v ? own_sums[v].first : found.first;
      found.second = lane == v ? own_sums[v].second : found.second;
    }
    const uint32_t place = from + lane * kTeams + team;
    take(lane < kVectors && place < count, place, ordinal, found);
  }
}

// As exact_sums, but lanes keep the sums of as many turns as a half of a team has lanes, and then hand
// them on together: what `take` makes of them is made once for 32 rows.
template <uint32_t FORMAT, int WARPS, int LOADS, class Take>
__device__ __forceinline__ void exact_kept_sums(const Rows& rows, bool euclidean, const float* query,
                                                uint32_t padded, const uint32_t* ordinals,
                                                uint32_t count, Take take) {
  static_assert(Chunk<FORMAT>::kVectors == 2, "a half of a team for each vector");
  constexpr uint32_t kTeams = WARPS * kTeamsPerWarp;
  constexpr uint32_t kHalf = kTeam / 2;
  const uint32_t team = threadIdx.x / kTeam;
  const uint32_t half = threadIdx.x / kHalf & 1u;
  const uint32_t turn_of_lane = threadIdx.x & (kHalf - 1);
#pragma unroll 1
  for (uint32_t from = 0; from < count; from += kTeams * kTeam) {
    uint32_t ordinal = 0;
    Sums kept = {0, 0};
#pragma unroll 1
    for (uint32_t turn = 0; turn < kHalf && from + turn * kTeams * 2 < count; turn++) {
      const uint32_t first = from + turn * kTeams * 2;
      uint32_t own[2];
#pragma unroll
      for (int v = 0; v < 2; v++) {
        const uint32_t i = first + v * kTeams + team;
        own[v] = ordinals[i < count ? i : first];
      }
      Sums sums;
      if constexpr (FORMAT == kByte) {
        if (rows.whole) {
          sums = team_half_whole_sums<LOADS>(rows, query, padded, own);
        } else {
          Sums both[2];
          team_byte_sums<LOADS>(rows, query, padded, own, both);
          sums = half != 0 ? both[1] : both[0];
        }
      } else {
        sums = team_half_sums<FORMAT, LOADS>(rows, euclidean, query, padded, own);
      }
      if (turn == turn_of_lane) {
        ordinal = half != 0 ? own[1] : own[0];
        kept = sums;
      }
    }
    const uint32_t place = from + (turn_of_lane * 2 + half) * kTeams + team;
    take(place < count, place, ordinal, kept);
  }
}

}  // namespace vamana
