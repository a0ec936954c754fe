// Several blocks that search inverted lists for one item. The first block that begins leads: it does what a block
// alone would, and publishes each wave. Others, the helpers, search their pieces of it. The leader waits only for
// blocks that have begun, so blocks need not be on the device at the same time, and a leader without helpers searches
// everything itself.
#pragma once

#include <cstdint>

#include "cta.cuh"
#include "exact.cuh"
#include "lists/order.cuh"
#include "lists/share.cuh"
#include "lists/state.cuh"

namespace vamana {

// Words that blocks of a team agree through are read and written past the first-level cache. What is volatile is meant
// for the host as well, which takes longer.
#ifndef VAMANA_SIMT
// Threads that are simulated by the host have these elsewhere.

__device__ __forceinline__ uint64_t team_load(const uint64_t* word) {
  uint64_t value;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(word) : "memory");
  return value;
}

__device__ __forceinline__ uint32_t team_load(const uint32_t* word) {
  uint32_t value;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(word) : "memory");
  return value;
}

__device__ __forceinline__ void team_store(uint64_t* word, uint64_t value) {
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(word), "l"(value) : "memory");
}
#endif

__device__ __forceinline__ void team_store(uint64_t* word, uint32_t tag, uint32_t value) {
  team_store(word, static_cast<uint64_t>(tag) << 32 | value);
}

__device__ __forceinline__ bool has_team(const ListSearch& search) { return search.team > 1; }

// Number of a block's item.
__device__ __forceinline__ uint32_t team_number(const ListSearch& search) {
  return blockIdx.x % search.count;
}

__device__ __forceinline__ ListTeam& team_of(const ListSearch& search) {
  return reinterpret_cast<ListTeam*>(search.teams)[team_number(search)];
}

// Scratch of a member of the block's team; of a block without a team its own.
template <class S>
__device__ __forceinline__ uint8_t* member_scratch(const S& s, uint32_t member) {
  const uint64_t block = has_team(s.search)
                             ? team_number(s.search) + static_cast<uint64_t>(member) * s.search.count
                             : blockIdx.x;
  return reinterpret_cast<uint8_t*>(s.search.scratch) + block * s.search.scratch_stride;
}

// Makes a block a member of its team; by one thread.
template <class S>
__device__ __forceinline__ void join_team(S& s) {
  s.wave->tag = 0;
  s.wave->member = has_team(s.search) ? atomicAdd(&team_of(s.search).arrived, 1u) : 0;
}

// Where distances of lists are that other blocks have a part in.
template <class S>
__device__ __forceinline__ uint32_t* team_keys(const S& s) {
  if (has_team(s.search) == false) {
    return s.near;
  }
  return reinterpret_cast<uint32_t*>(
      member_scratch(s, 0) + (lists_shared(s.search) ? 0 : list_scratch_row(s.search)));
}

// Distances to the centroids of lists from..to-1, as keys: by teams of 8 lanes, which ask for four chunks of a row at
// a time and add up as team_sums does.
template <class S>
__device__ __noinline__ void measure_part(const ListSearch& search, uint32_t* keys, uint32_t from,
                                          uint32_t to) {
  const S s(search, block_memory());
  const Lists& lists = s.control.lists;
  constexpr uint32_t kTeams = S::kThreads / kTeam;
  constexpr uint32_t kLoads = 4;
  const uint32_t lane = threadIdx.x & (kTeam - 1);
  const uint32_t chunks = lists.padded / 4;
  const float4* query = reinterpret_cast<const float4*>(s.rotated);
#pragma unroll 1
  for (uint32_t first = from; first < to; first += kTeams) {
    const uint32_t place = first + threadIdx.x / kTeam;
    const uint32_t list = place < to ? place : first;
    const uint4* row = reinterpret_cast<const uint4*>(lists.centroids) +
                       static_cast<uint64_t>(list) * chunks;
    const uint4 words = __ldg(reinterpret_cast<const uint4*>(lists.facts) + list);
    Sums sums = {0, 0};
#pragma unroll 1
    for (uint32_t c = lane; c < chunks; c += kTeam * kLoads) {
      uint4 loaded[kLoads];
#pragma unroll
      for (uint32_t load = 0; load < kLoads; load++) {
        if (c + load * kTeam < chunks) {
          loaded[load] = __ldg(row + c + load * kTeam);
        }
      }
#pragma unroll
      for (uint32_t load = 0; load < kLoads; load++) {
        if (c + load * kTeam < chunks) {
          accumulate_chunk<kFloat32>(sums, true, loaded[load], query + c + load * kTeam, chunks);
        }
      }
    }
#pragma unroll
    for (int stride = kTeam / 2; stride > 0; stride >>= 1) {
      sums.first += __shfl_xor_sync(kAllLanes, sums.first, stride);
    }
    if (lane == 0 && place < to) {
      const ListFacts facts = {words.x, __uint_as_float(words.y), __uint_as_float(words.z), 0};
      keys[list] = list_key(lists, facts, sums.first, s.rotated_norm2);
    }
  }
}

// Distances to all centroids. Blocks of a team take parts of them as they come, and only the first one waits until all
// are there. Ends with a barrier.
template <class S>
__device__ __noinline__ void measure_waves(const ListSearch& search) {
  S s(search, block_memory());
  const uint32_t lists = s.control.lists.lists;
  uint32_t* keys = team_keys(s);
  if (has_team(s.search) == false) {
    measure_part<S>(s.search, keys, 0, lists);
    cta_sync<S::kWarps>();
    return;
  }
  ListTeam& team = team_of(s.search);
  const uint32_t share = team_lists(lists, s.search.team);
  const uint32_t parts = (lists + share - 1) / share;
  while (true) {
    if (threadIdx.x == 0) {
      s.control.next = atomicAdd(&team.claimed, 1u);
    }
    cta_sync<S::kWarps>();
    const uint32_t part = s.control.next;
    if (part >= parts) {
      break;
    }
    const uint32_t end = (part + 1) * share;
    measure_part<S>(s.search, keys, part * share, end < lists ? end : lists);
    cta_sync<S::kWarps>();
    if (threadIdx.x == 0) {
      __threadfence();
      atomicAdd(&team.measured, 1u);
    }
  }
  if (s.wave->member == 0) {
    if (warp_id() == 0) {
      Patience patience;
      while (__all_sync(kAllLanes, team_load(&team.measured) == parts) == 0) {
        patience.wait();
      }
      __threadfence();
    }
    cta_sync<S::kWarps>();
  }
}

// Tells helpers of the wave; by one warp.
template <class S>
__device__ __forceinline__ void publish_wave(S& s) {
  ListTeam& team = team_of(s.search);
  const uint32_t tag = s.wave->tag + 1;
  __syncwarp();
  // what was read of the last wave is read before helpers write again
  __threadfence();
  for (uint32_t word = lane_id(); word < kWaveWords; word += 32) {
    team_store(&team.published[word], tag, s.wave->words[word]);
  }
  if (lane_id() == 0) {
    s.wave->tag = tag;
  }
}

// Tells helpers that there are no more waves; by one warp.
template <class S>
__device__ __forceinline__ void publish_end(const S& s) {
  for (uint32_t word = lane_id(); word < kWaveWords; word += 32) {
    team_store(&team_of(s.search).published[word], kTeamEnd, 0);
  }
}

// Waits for a wave that the block has not seen, or the end; by one warp.
template <class S>
__device__ __noinline__ void await_wave(const ListSearch& search) {
  S s(search, block_memory());
  static_assert(kWaveWords > 32 && kWaveWords <= 64, "two words a lane");
  const uint64_t* words = team_of(s.search).published;
  const uint32_t second = lane_id() + 32 < kWaveWords ? lane_id() + 32 : lane_id();
  const uint32_t seen = s.wave->tag;
  // all lanes have read the tag before one of them changes it, which votes do not ensure
  __syncwarp();
  for (Patience patience;; patience.wait()) {
    const uint64_t low = team_load(words + lane_id());
    const uint64_t high = team_load(words + second);
    const uint32_t tag = static_cast<uint32_t>(low >> 32);
    const uint32_t common = __shfl_sync(kAllLanes, tag, 0);
    // all words of one wave
    const bool same = tag == common && static_cast<uint32_t>(high >> 32) == common;
    if (__all_sync(kAllLanes, same && common != seen) != 0) {
      s.wave->words[lane_id()] = static_cast<uint32_t>(low);
      if (second != lane_id()) {
        s.wave->words[second] = static_cast<uint32_t>(high);
      }
      if (lane_id() == 0) {
        s.wave->tag = common;
      }
      return;
    }
  }
}

// Writes the result of a block where the team's first block reads it. Begins behind a barrier and ends with a barrier.
template <class S>
__device__ __noinline__ void report_share(const ListSearch& search, Share share, bool exported) {
  S s(search, block_memory());
  const uint32_t member = s.wave->member;
  if (exported) {
    uint64_t* keys = reinterpret_cast<uint64_t*>(member_scratch(s, member) +
                                                 list_scratch_found(s.search, S::kCodes));
    float* bounds = reinterpret_cast<float*>(keys + kWaveCandidates);
    for (uint32_t i = threadIdx.x; i < share.count; i += S::kThreads) {
      keys[i] = s.candidates[i];
      bounds[i] = s.sorted[i];
    }
    cta_sync<S::kWarps>();
  }
  if (warp_id() == 0) {
    const uint32_t room = wave_room(share.pieces);
    const uint32_t slot = lane_id();
    if (slot < share.pieces) {
      uint32_t begin = 0;
      for (uint32_t other = 0; other < slot; other++) {
        begin += slot_count(s, other, room);
      }
      const uint32_t found = begin | slot_count(s, slot, room) << kFoundBits |
                             (s.control.slot_counts[slot] > room ? kFoundMore : 0) |
                             (s.control.flags != 0 ? kFoundCorrupt : 0);
      const uint32_t piece = member + slot * wave_of(s.wave->words).blocks;
      if (member == 0) {
        s.wave->found[piece] = found;
      } else {
        __threadfence();
        team_store(&team_of(s.search).found[piece], s.wave->tag, found);
      }
    }
    __syncwarp();
    if (slot < kListWave) {
      s.control.slot_counts[slot] = 0;
    }
    if (slot == 0) {
      s.control.flags = 0;
    }
  }
  cta_sync<S::kWarps>();
}

// Waits until all blocks have told what they found; by one warp of the first one.
template <class S>
__device__ __noinline__ void await_found(const ListSearch& search) {
  S s(search, block_memory());
  const Wave wave = wave_of(s.wave->words);
  if (wave.blocks == 1) {
    return;
  }
  const uint64_t* found = team_of(s.search).found;
  const uint32_t tag = s.wave->tag;
  bool all;
  Patience patience;
  do {
    patience.wait();
    all = true;
    for (uint32_t piece = lane_id(); piece < wave.pieces; piece += 32) {
      if (piece % wave.blocks != 0) {
        const uint64_t word = team_load(found + piece);
        all = all && static_cast<uint32_t>(word >> 32) == tag;
        s.wave->found[piece] = static_cast<uint32_t>(word);
      }
    }
  } while (__all_sync(kAllLanes, all) == 0);
  __threadfence();
}

// Says where the candidates of the next pieces go, as many as there is room for; by one warp.
template <class S>
__device__ __noinline__ void place_pieces(const ListSearch& search) {
  S s(search, block_memory());
  const uint32_t pieces = wave_of(s.wave->words).pieces;
  const uint32_t next = s.wave->next;
  __syncwarp();
  uint32_t until = pieces;
  uint32_t start = 0;
  for (uint32_t from = 0; from < pieces; from += 32) {
    const uint32_t piece = from + lane_id();
    const bool own = piece >= next && piece < pieces;
    const uint32_t count = own ? s.wave->found[piece] >> kFoundBits & kFoundMask : 0;
    uint32_t sum = count;
#pragma unroll
    for (uint32_t step = 1; step < 32; step *= 2) {
      const uint32_t other = __shfl_up_sync(kAllLanes, sum, step);
      sum += lane_id() >= step ? other : 0;
    }
    if (own) {
      s.wave->starts[piece] = start + sum - count;
    }
    const uint32_t beyond = __ballot_sync(kAllLanes, own && start + sum > kWaveCandidates);
    if (beyond != 0) {
      until = from + static_cast<uint32_t>(__ffs(static_cast<int>(beyond))) - 1;
      break;
    }
    start += __shfl_sync(kAllLanes, sum, 31);
  }
  if (lane_id() == 0) {
    s.wave->until = until;
  }
}

// Brings in the candidates of the pieces that were placed. Between barriers.
template <class S>
__device__ __noinline__ void gather_pieces(const ListSearch& search) {
  S s(search, block_memory());
  const uint32_t blocks = wave_of(s.wave->words).blocks;
  const uint32_t until = s.wave->until;
  for (uint32_t piece = s.wave->next + warp_id(); piece < until; piece += S::kWarps) {
    const uint32_t found = s.wave->found[piece];
    const uint32_t begin = found & kFoundMask;
    const uint32_t count = found >> kFoundBits & kFoundMask;
    const uint32_t start = s.wave->starts[piece];
    const unsigned long long* keys = reinterpret_cast<const unsigned long long*>(
        member_scratch(s, piece % blocks) + list_scratch_found(s.search, S::kCodes));
    const float* bounds = reinterpret_cast<const float*>(keys + kWaveCandidates);
    for (uint32_t i = lane_id(); i < count; i += 32) {
      s.candidates[start + i] = __ldcg(keys + begin + i);
      s.sorted[start + i] = __ldcg(bounds + begin + i);
    }
  }
}

// The last block of a team that ends leaves the team's words as it found them. Begins behind a barrier; by one warp.
template <class S>
__device__ __forceinline__ void leave_team(const S& s) {
  ListTeam& team = team_of(s.search);
  uint32_t left = 0;
  if (lane_id() == 0) {
    __threadfence();
    left = atomicAdd(&team.left, 1u);
    __threadfence();
  }
  if (__shfl_sync(kAllLanes, left, 0) + 1 == s.search.team) {
    uint32_t* words = reinterpret_cast<uint32_t*>(&team);
    for (uint32_t word = lane_id(); word < sizeof(ListTeam) / 4; word += 32) {
      words[word] = 0;
    }
  }
}

}  // namespace vamana
