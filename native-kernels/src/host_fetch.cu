// Kernels of walks whose neighbours the CPU fetches (BANG base); vamana/host_fetch.h describes them.
#include "host_fetch.cuh"

#include "asymmetric.cuh"
#include "byte_dot.cuh"
#include "exact.cuh"
#include "query.cuh"
#include "sort.cuh"
#include "vamana/shared_layout.h"

namespace {

using namespace vamana;

constexpr int kWarps = 4;
constexpr uint32_t kDistanceThreads = 512;

// Sum over the block, of floats or of 32-bit integers; the same in all threads. Between barriers.
template <class Number>
__device__ __forceinline__ Number block_sum(Number value, Number* sums) {
  value = warp_sum(value);
  if (lane_id() == 0) {
    sums[warp_id()] = value;
  }
  __syncthreads();
  value = 0;
  for (uint32_t w = 0; w < blockDim.x / 32; w++) {
    value += sums[w];
  }
  return value;
}

// Copies an item, which the host wrote, and its segment. Ends with a barrier.
__device__ __forceinline__ void read_item(uint64_t items, uint32_t slot, Item& item,
                                          Segment& segment) {
  if (warp_id() == 0) {
    const uint32_t* words =
        reinterpret_cast<const uint32_t*>(items + static_cast<uint64_t>(slot) * sizeof(Item));
    if (lane_id() < sizeof(Item) / 4) {
      reinterpret_cast<uint32_t*>(&item)[lane_id()] = words[lane_id()];
    }
    __syncwarp();
    words = reinterpret_cast<const uint32_t*>(item.segment);
    if (lane_id() < sizeof(Segment) / 4) {
      reinterpret_cast<uint32_t*>(&segment)[lane_id()] = words[lane_id()];
    }
  }
  __syncthreads();
}

// The block's dynamic shared memory for the new keys of a step and their ordinals or ranks.
struct StepMemory {
  uint64_t* keys;
  uint32_t* words;
};

__device__ __forceinline__ StepMemory step_memory(const HostFetch& p) {
  extern __shared__ __align__(16) uint8_t shared[];
  return {reinterpret_cast<uint64_t*>(shared),
          reinterpret_cast<uint32_t*>(shared + p.fresh_capacity * 8)};
}

__device__ __forceinline__ void copy_keys(uint64_t* to, const uint64_t* from, uint32_t count) {
  for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
    to[i] = from[i];
  }
}

}  // namespace

// The query's distance table (section 4.2), an empty worklist and an empty visited set.
extern "C" __global__ void __launch_bounds__(kWarps * 32)
    host_fetch_begin(const __grid_constant__ HostFetch p) {
  extern __shared__ __align__(16) uint8_t shared[];
  __shared__ Item item;
  __shared__ Segment segment;
  __shared__ float sums[kWarps];
  float* query = reinterpret_cast<float*>(shared);
  const FetchSlot slot = fetch_slot(p);
  read_item(p.items, reinterpret_cast<const uint32_t*>(p.slots)[blockIdx.x], item, segment);
  for (uint32_t i = threadIdx.x; i < p.visited_slots / 4; i += kWarps * 32) {
    reinterpret_cast<uint4*>(slot.visited)[i] = {0, 0, 0, 0};
  }
  float norm2 = 0;
  for (uint32_t d = threadIdx.x; d < segment.dimension; d += kWarps * 32) {
    const float q = query_component(segment, item, d);
    query[d] = q;
    norm2 = fmaf(q, q, norm2);
  }
  norm2 = block_sum(norm2, sums);
  if (segment.similarity == kCosine && norm2 > 0) {
    const float inverse = 1 / sqrtf(norm2);
    for (uint32_t d = threadIdx.x; d < segment.dimension; d += kWarps * 32) {
      query[d] *= inverse;
    }
    __syncthreads();
  }
  fill_table<kWarps>(segment, segment.similarity == kEuclidean, query,
                     const_cast<float*>(slot.table));
  if (threadIdx.x == 0) {
    *slot.state = {item.segment,        segment.codes, kNoKey, segment.size, segment.code_stride,
                   segment.subspaces,   item.beam,     item.visit_limit,
                   0,                   0,             0,      0,            0,
                   0,                   0};
  }
}

// The visited filter (section 4.4), by one warp.
extern "C" __global__ void __launch_bounds__(32)
    host_fetch_filter(const __grid_constant__ HostFetch p) {
  const FetchSlot slot = fetch_slot(p);
  filter_row(p, slot, slot.ids);
}

// Asymmetric distances (section 4.5) by groups of 8 threads through shuffles.
extern "C" __global__ void __launch_bounds__(kDistanceThreads)
    host_fetch_distance_groups(const __grid_constant__ HostFetch p) {
  const FetchSlot slot = fetch_slot(p);
  group_distances<kDistanceThreads>(*slot.state, slot.table, slot.ids, slot.state->fresh_count,
                                    slot.keys);
}

// As host_fetch_distance_groups, but the threads of a group add to a word of shared memory.
extern "C" __global__ void __launch_bounds__(kDistanceThreads)
    host_fetch_distance_atomics(const __grid_constant__ HostFetch p) {
  constexpr uint32_t kGroups = kDistanceThreads / kFetchGroup;
  __shared__ float sums[kGroups];
  const FetchSlot slot = fetch_slot(p);
  const uint32_t count = slot.state->fresh_count;
  for (uint32_t from = 0; from < count; from += kGroups) {
    if (threadIdx.x < kGroups) {
      sums[threadIdx.x] = 0;
    }
    __syncthreads();
    const uint32_t group = threadIdx.x / kFetchGroup;
    const uint32_t i = from + group;
    if (i < count) {
      atomicAdd(&sums[group], lane_sum(*slot.state, slot.table, slot.ids[i],
                                       threadIdx.x % kFetchGroup, kFetchGroup));
    }
    __syncthreads();
    if (threadIdx.x < kGroups && from + threadIdx.x < count) {
      slot.keys[from + threadIdx.x] =
          make_key(sums[threadIdx.x], slot.ids[from + threadIdx.x]);
    }
    __syncthreads();
  }
}

// As host_fetch_distance_groups, but a whole warp adds up each distance.
extern "C" __global__ void __launch_bounds__(kDistanceThreads)
    host_fetch_distance_warps(const __grid_constant__ HostFetch p) {
  const FetchSlot slot = fetch_slot(p);
  const uint32_t count = slot.state->fresh_count;
  for (uint32_t i = warp_id(); i < count; i += kDistanceThreads / 32) {
    const float sum =
        warp_sum(lane_sum(*slot.state, slot.table, slot.ids[i], lane_id(), 32));
    if (lane_id() == 0) {
      slot.keys[i] = make_key(sum, slot.ids[i]);
    }
  }
}

// As host_fetch_distance_groups, but the whole block adds up one distance after the other.
extern "C" __global__ void __launch_bounds__(kDistanceThreads)
    host_fetch_distance_blocks(const __grid_constant__ HostFetch p) {
  __shared__ float sums[kDistanceThreads / 32];
  const FetchSlot slot = fetch_slot(p);
  const uint32_t count = slot.state->fresh_count;
  for (uint32_t i = 0; i < count; i++) {
    const float sum = block_sum(
        lane_sum(*slot.state, slot.table, slot.ids[i], threadIdx.x, kDistanceThreads), sums);
    if (threadIdx.x == 0) {
      slot.keys[i] = make_key(sum, slot.ids[i]);
    }
    __syncthreads();
  }
}

// Drops new keys that the worklist would not take, and chooses the next parent before the others
// are sorted (section 4.6), by one warp.
extern "C" __global__ void __launch_bounds__(32)
    host_fetch_pick(const __grid_constant__ HostFetch p) {
  const FetchSlot slot = fetch_slot(p);
  keep_nearest(p, slot, slot.keys, slot.state->fresh_count);
}

// Sorts the new keys (section 4.7).
extern "C" __global__ void __launch_bounds__(kWarps * 32)
    host_fetch_sort(const __grid_constant__ HostFetch p) {
  const FetchSlot slot = fetch_slot(p);
  const StepMemory memory = step_memory(p);
  const uint32_t count = slot.state->fresh_count;
  if (count == 0) {
    return;
  }
  copy_keys(memory.keys, slot.keys, count);
  __syncthreads();
  sort_keys<kWarps>(memory.keys, count);
  __syncthreads();
  copy_keys(slot.keys, memory.keys, count);
}

// Merges the sorted new keys into the worklist (section 4.8).
extern "C" __global__ void __launch_bounds__(kWarps * 32)
    host_fetch_merge(const __grid_constant__ HostFetch p) {
  __shared__ uint32_t merged;
  const FetchSlot slot = fetch_slot(p);
  const StepMemory memory = step_memory(p);
  const uint32_t count = slot.state->fresh_count;
  copy_keys(memory.keys, slot.keys, count);
  __syncthreads();
  take_keys<kWarps>(p, slot, memory.keys, memory.words, count, &merged);
}

// host_fetch_filter, host_fetch_distance_groups and host_fetch_pick in one.
extern "C" __global__ void __launch_bounds__(kWarps * 32)
    host_fetch_near(const __grid_constant__ HostFetch p) {
  const FetchSlot slot = fetch_slot(p);
  const StepMemory memory = step_memory(p);
  if (warp_id() == 0) {
    filter_row(p, slot, memory.words);
  }
  __syncthreads();
  const uint32_t count = slot.state->fresh_count;
  group_distances<kWarps * 32>(*slot.state, slot.table, memory.words, count, memory.keys);
  __syncthreads();
  if (warp_id() != 0) {
    return;
  }
  const uint32_t kept = keep_nearest(p, slot, memory.keys, count);
  for (uint32_t i = lane_id(); i < kept; i += 32) {
    slot.keys[i] = memory.keys[i];
  }
}

// host_fetch_sort and host_fetch_merge in one.
extern "C" __global__ void __launch_bounds__(kWarps * 32)
    host_fetch_update(const __grid_constant__ HostFetch p) {
  __shared__ uint32_t merged;
  const FetchSlot slot = fetch_slot(p);
  const StepMemory memory = step_memory(p);
  const uint32_t count = slot.state->fresh_count;
  copy_keys(memory.keys, slot.keys, count);
  __syncthreads();
  if (count > 0) {
    sort_keys<kWarps>(memory.keys, count);
  }
  take_keys<kWarps>(p, slot, memory.keys, memory.words, count, &merged);
}

// Exact scores of candidates, and the best of them (section 4.9).
extern "C" __global__ void __launch_bounds__(kWarps * 32)
    host_fetch_rerank(const __grid_constant__ FetchRerank p) {
  extern __shared__ __align__(16) uint8_t shared[];
  __shared__ Item item;
  __shared__ Segment segment;
  __shared__ float warp_sums[kWarps];
  __shared__ uint32_t warp_squares[kWarps];
  __shared__ uint32_t kept;
  __shared__ uint32_t merged;
  const FetchGroup group = reinterpret_cast<const FetchGroup*>(p.groups)[blockIdx.x];
  read_item(p.items, group.slot, item, segment);
  const bool bytes = segment.byte_scoring != 0;
  const bool euclidean = segment.similarity == kEuclidean;
  const uint32_t padded = up16(segment.dimension);
  uint64_t* keys = reinterpret_cast<uint64_t*>(shared + up16(p.list_capacity * 8));
  uint32_t* rows = reinterpret_cast<uint32_t*>(keys + kRerankPass);
  float* query = reinterpret_cast<float*>(rows + 2 * kRerankPass);
  float norm2 = 0;
  uint32_t squares = 0;
  for (uint32_t d = threadIdx.x; d < padded; d += kWarps * 32) {
    const float q = d < segment.dimension ? query_component(segment, item, d) : 0;
    query[bytes ? query_place<kByte>(d, padded) : query_place<kFloat32>(d, padded)] = q;
    if (bytes) {
      squares += static_cast<uint32_t>(static_cast<int32_t>(q) * static_cast<int32_t>(q));
    } else {
      norm2 = fmaf(q, q, norm2);
    }
  }
  if (bytes) {
    squares = block_sum(squares, warp_squares);
    pack_query<kWarps * 32>(query, padded, kWholeBytes);
  } else {
    norm2 = block_sum(norm2, warp_sums);
  }
  const Rows vectors = {reinterpret_cast<const uint8_t*>(p.vectors), p.vector_stride,
                        segment.dimension, nullptr, true};
  Worklist best = {reinterpret_cast<uint64_t*>(shared), 0, 0};
  for (uint32_t from = 0; from < group.count; from += kRerankPass) {
    const uint32_t left = group.count - from;
    const uint32_t count = left < kRerankPass ? left : kRerankPass;
    const uint64_t first = static_cast<uint64_t>(group.first) + from;
    if (threadIdx.x < count) {
      rows[threadIdx.x] = reinterpret_cast<const uint32_t*>(p.rows)[first + threadIdx.x];
    }
    __syncthreads();
    Sums* sums = reinterpret_cast<Sums*>(keys);
    if (bytes) {
      exact_sums<kByte, kWarps, 1>(vectors, euclidean, query, padded, rows, count, StoreSums{sums});
    } else {
      exact_sums<kFloat32, kWarps, 2>(vectors, euclidean, query, padded, rows, count, StoreSums{sums});
    }
    __syncthreads();
    if (warp_id() == 0) {
      const uint64_t worst =
          best.size == item.k ? unmarked(best.keys[best.size - 1]) : kNoKey;
      uint64_t key = kNoKey;
      if (lane_id() < count) {
        const Sums found = sums[lane_id()];
        const float score =
            bytes ? byte_score(segment.similarity, segment.dimension,
                               __float_as_int(found.first), __float_as_int(found.second),
                               static_cast<int32_t>(squares))
                  : score_of(segment.similarity, found, norm2);
        key = make_key(-score, reinterpret_cast<const uint32_t*>(p.ordinals)[first + lane_id()]);
      }
      const uint32_t wanted = __ballot_sync(kAllLanes, key < worst);
      if (key < worst) {
        keys[__popc(wanted & lanes_below())] = key;
      }
      __syncwarp();
      sort_by_counting<1>(keys, __popc(wanted));
      __syncwarp();
      if (lane_id() == 0) {
        kept = __popc(wanted);
      }
    }
    __syncthreads();
    merge_sorted_keys<kWarps>(best, item.k, keys, rows, kept, &merged);
    __syncthreads();
  }
  Result* result = reinterpret_cast<Result*>(item.result);
  uint32_t* ordinals = reinterpret_cast<uint32_t*>(result + 1);
  float* scores = reinterpret_cast<float*>(ordinals + item.capacity);
  const uint32_t count = best.size < item.capacity ? best.size : item.capacity;
  for (uint32_t i = threadIdx.x; i < count; i += kWarps * 32) {
    ordinals[i] = key_ordinal(best.keys[i]);
    scores[i] = -key_distance(best.keys[i]);
  }
  if (threadIdx.x == 0) {
    result->count = count;
  }
}
