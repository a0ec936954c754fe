// Walks as SONG does them (Zhao, Tan and Li, 2020), for comparison with this project's: 8, 16 or 32 lanes a query,
// four kinds of visited set, several nodes expanded a step, and selected insertion, which remembers only nodes that
// enter the worklist, and forgets a vector that leaves it. Blocks have one warp. Squared distances of float32 vectors.
#include <cstdint>

#include "song_visited.cuh"
#include "vamana/order.h"

namespace vamana {
namespace song {

constexpr uint32_t kMostParents = 8;

// As in dev.vamana.tools.gpu.SongWalks; rows of vectors and queries are padded with zeros to 4 floats.
struct Song {
  uint64_t vectors;   // float[n][padded]
  uint64_t graph;     // uint32_t[n][degree], unused slots at least n
  uint64_t queries;   // float[count][padded]
  uint64_t hits;      // uint32_t[count][k]
  uint64_t counters;  // uint32_t[count][2]: distances, steps
  uint32_t n;
  uint32_t padded;
  uint32_t degree;
  uint32_t medoid;
  uint32_t count;
  uint32_t k;
  uint32_t beam;
  uint32_t parents;      // at most kMostParents
  uint32_t words;        // of the visited set, a power of two
  uint32_t group_bytes;  // of shared memory a query
};
static_assert(sizeof(Song) == 80, "SongWalks.BYTES");

// The lanes of a warp that walk one query.
template <int LANES>
struct Group {
  uint32_t lane = threadIdx.x % LANES;
  uint32_t first = threadIdx.x / LANES * LANES;
  uint32_t mask = (LANES == 32 ? 0xFFFFFFFFu : (1u << LANES % 32) - 1) << first;

  __device__ void sync() const { __syncwarp(mask); }
  __device__ uint32_t ballot(bool value) const { return __ballot_sync(mask, value) >> first; }
  __device__ uint32_t below() const { return (1u << lane) - 1; }
  __device__ float sum(float value) const {
#pragma unroll
    for (int stride = LANES / 2; stride > 0; stride /= 2) {
      value += __shfl_xor_sync(mask, value, stride);
    }
    return value;
  }
};

template <int LANES, int KIND, bool SELECTED>
struct Walker {
  const Song& p;
  Group<LANES> group;
  uint64_t* keys;
  uint32_t* parents;
  uint32_t* ids;
  float* distances;
  float* query;
  Visited<KIND> visited;
  uint32_t size = 0;
  uint32_t computed = 0;
  uint32_t steps = 0;

  __device__ Walker(const Song& parameters, uint8_t* shared) : p(parameters) {
    shared += threadIdx.x / LANES * p.group_bytes;
    keys = reinterpret_cast<uint64_t*>(shared);
    visited.words = reinterpret_cast<uint32_t*>(shared + (p.beam + 1) / 2 * 16);
    visited.count = p.words;
    query = reinterpret_cast<float*>(visited.words + p.words);
    parents = reinterpret_cast<uint32_t*>(query + p.padded);
    ids = parents + kMostParents;
    distances = reinterpret_cast<float*>(ids + p.parents * p.degree);
  }

  __device__ void begin(uint32_t q) {
    const float* from = reinterpret_cast<const float*>(p.queries) + uint64_t{q} * p.padded;
    for (uint32_t i = group.lane; i < p.padded; i += LANES) {
      query[i] = from[i];
    }
    for (uint32_t i = group.lane; i < p.words; i += LANES) {
      visited.words[i] = 0;
    }
    size = 0;
    computed = 0;
    steps = 0;
    group.sync();
    if (group.lane == 0) {
      ids[0] = p.medoid;
      if (SELECTED == false) {
        visited.add(p.medoid);
      }
    }
    group.sync();
  }

  __device__ void compute(uint32_t count) {
    const float4* a = reinterpret_cast<const float4*>(query);
    for (uint32_t c = 0; c < count; c += 2) {
      const uint32_t other = c + 1 < count ? c + 1 : c;
      const float4* b0 = row(ids[c]);
      const float4* b1 = row(ids[other]);
      float sum0 = 0;
      float sum1 = 0;
      for (uint32_t i = group.lane; i < p.padded / 4; i += LANES) {
        const float4 q = a[i];
        sum0 += squared(q, __ldg(b0 + i));
        sum1 += squared(q, __ldg(b1 + i));
      }
      sum0 = group.sum(sum0);
      sum1 = group.sum(sum1);
      if (group.lane == 0) {
        distances[c] = sum0;
        distances[other] = other == c ? sum0 : sum1;
      }
    }
    computed += count;
    group.sync();
  }

  __device__ const float4* row(uint32_t ordinal) const {
    return reinterpret_cast<const float4*>(p.vectors) + uint64_t{ordinal} * (p.padded / 4);
  }

  __device__ static float squared(float4 a, float4 b) {
    const float x = a.x - b.x;
    const float y = a.y - b.y;
    const float z = a.z - b.z;
    const float w = a.w - b.w;
    return x * x + y * y + z * z + w * w;
  }

  // Offers the nodes of ids to the worklist, in groups of as many as there are lanes.
  __device__ void insert_all(uint32_t count) {
    for (uint32_t from = 0; from < count; from += LANES) {
      const uint32_t i = from + group.lane;
      const uint64_t key = i < count ? make_key(distances[i], ids[i]) : kNoKey;
      for (uint32_t near = group.ballot(i < count && enters(key)); near != 0; near &= near - 1) {
        const uint32_t c = from + __ffs(near) - 1;
        insert(make_key(distances[c], ids[c]));
      }
    }
  }

  __device__ bool enters(uint64_t key) const {
    return size < p.beam || key < unmarked(keys[size - 1]);
  }

  __device__ void insert(uint64_t key) {
    if (enters(key) == false) {
      return;
    }
    uint32_t rank = 0;
    bool there = false;
    for (uint32_t from = 0; from < size; from += LANES) {
      const uint32_t i = from + group.lane;
      const uint64_t own = i < size ? unmarked(keys[i]) : kNoKey;
      rank += __popc(group.ballot(own < key) & lanes());
      there |= (group.ballot(own == key) & lanes()) != 0;
    }
    if (there) {
      return;
    }
    if (size == p.beam) {
      if (SELECTED && group.lane == 0) {
        visited.remove(key_ordinal(keys[size - 1]));
      }
      size--;
      group.sync();
    }
    for (uint32_t end = size; end > rank;) {
      const uint32_t start = end > rank + LANES ? end - LANES : rank;
      const uint32_t i = start + group.lane;
      const uint64_t own = i < end ? keys[i] : 0;
      group.sync();
      if (i < end) {
        keys[i + 1] = own;
      }
      group.sync();
      end = start;
    }
    if (group.lane == 0) {
      keys[rank] = key;
      if (SELECTED) {
        visited.add(key_ordinal(key));
      }
    }
    size++;
    group.sync();
  }

  __device__ static uint32_t lanes() { return LANES == 32 ? 0xFFFFFFFFu : (1u << LANES % 32) - 1; }

  // Marks the nearest unexpanded nodes; returns how many.
  __device__ uint32_t pick() {
    uint32_t found = 0;
    for (uint32_t from = 0; from < size && found < p.parents; from += LANES) {
      const uint32_t i = from + group.lane;
      const bool open = i < size && is_expanded(keys[i]) == false;
      const uint32_t opened = group.ballot(open) & lanes();
      const uint32_t rank = found + __popc(opened & group.below());
      if (open && rank < p.parents) {
        parents[rank] = key_ordinal(keys[i]);
        keys[i] |= kExpanded;
      }
      found += __popc(opened);
    }
    group.sync();
    return found < p.parents ? found : p.parents;
  }

  // Writes the neighbours that were not visited to ids; returns how many.
  __device__ uint32_t read_rows(uint32_t count) {
    uint32_t found = 0;
    for (uint32_t parent = 0; parent < count; parent++) {
      const uint32_t* own =
          reinterpret_cast<const uint32_t*>(p.graph) + uint64_t{parents[parent]} * p.degree;
      for (uint32_t from = 0; from < p.degree; from += LANES) {
        const uint32_t i = from + group.lane;
        const uint32_t ordinal = i < p.degree ? __ldg(own + i) : p.n;
        const bool fresh =
            ordinal < p.n && (SELECTED ? visited.has(ordinal) == false : visited.add(ordinal));
        const uint32_t all = group.ballot(fresh) & lanes();
        if (fresh) {
          ids[found + __popc(all & group.below())] = ordinal;
        }
        found += __popc(all);
        group.sync();
      }
    }
    return found;
  }

  __device__ void finish(uint32_t q) {
    uint32_t* hits = reinterpret_cast<uint32_t*>(p.hits) + uint64_t{q} * p.k;
    for (uint32_t i = group.lane; i < p.k; i += LANES) {
      hits[i] = i < size ? key_ordinal(keys[i]) : p.n;
    }
    if (group.lane == 0) {
      uint32_t* counters = reinterpret_cast<uint32_t*>(p.counters) + uint64_t{q} * 2;
      counters[0] = computed;
      counters[1] = steps;
    }
    group.sync();
  }

  __device__ void walk(uint32_t q) {
    begin(q);
    compute(1);
    insert_all(1);
    for (uint32_t picked = pick(); picked > 0; picked = pick()) {
      const uint32_t count = read_rows(picked);
      compute(count);
      insert_all(count);
      steps++;
    }
    finish(q);
  }
};

template <int LANES, int KIND, bool SELECTED>
__device__ __forceinline__ void walk_all(const Song& p) {
  extern __shared__ __align__(16) uint8_t shared[];
  constexpr uint32_t kGroups = 32 / LANES;
  Walker<LANES, KIND, SELECTED> walker(p, shared);
  for (uint32_t q = blockIdx.x * kGroups + threadIdx.x / LANES; q < p.count;
       q += gridDim.x * kGroups) {
    walker.walk(q);
  }
}

}  // namespace song
}  // namespace vamana

#define VAMANA_SONG(name, lanes, kind, selected)                                  \
  extern "C" __global__ void __launch_bounds__(32)                                \
      song_##lanes##_##name(const __grid_constant__ vamana::song::Song p) {       \
    vamana::song::walk_all<lanes, vamana::song::kind, selected>(p);               \
  }

#define VAMANA_SONG_SETS(lanes)                                   \
  VAMANA_SONG(buckets, lanes, kBuckets, false)                    \
  VAMANA_SONG(open, lanes, kOpenAddressing, false)                \
  VAMANA_SONG(bloom, lanes, kBloom, false)                        \
  VAMANA_SONG(cuckoo, lanes, kCuckoo, false)                      \
  VAMANA_SONG(open_selected, lanes, kOpenAddressing, true)        \
  VAMANA_SONG(bloom_selected, lanes, kBloom, true)                \
  VAMANA_SONG(cuckoo_selected, lanes, kCuckoo, true)

VAMANA_SONG_SETS(8)
VAMANA_SONG_SETS(16)
VAMANA_SONG_SETS(32)
