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

constexpr int kWarps = kFetchThreads / 32;

// Copies an item, which the host wrote, and its segment. Ends with a barrier.
__device__ __forceinline__ void read_item(uint64_t items, uint32_t slot, Item& item,
                                          Segment& segment) {
  if (warp_id() == 0) {
    copy_host_words(item, items + static_cast<uint64_t>(slot) * sizeof(Item));
    __syncwarp();
    copy_words(segment, reinterpret_cast<const void*>(item.segment));
  }
  __syncthreads();
}

}  // namespace

// The query's distance table (section 4.2), an empty worklist and an empty visited set. Shared memory:
// begin_shared_bytes.
extern "C" __global__ void __launch_bounds__(kFetchThreads)
    host_fetch_begin(const __grid_constant__ HostFetch p) {
  __shared__ Item item;
  __shared__ Segment segment;
  __shared__ float sums[kWarps];
  float* query = reinterpret_cast<float*>(block_memory());
  const FetchSlot slot = fetch_slot(p);
  read_item(p.items, reinterpret_cast<const uint32_t*>(p.slots)[blockIdx.x], item, segment);
  for (uint32_t i = threadIdx.x; i < p.visited_slots / 4; i += kFetchThreads) {
    reinterpret_cast<uint4*>(slot.visited)[i] = {0, 0, 0, 0};
  }
  float norm2 = 0;
  for (uint32_t d = threadIdx.x; d < segment.dimension; d += kFetchThreads) {
    const float q = query_component(segment, item, d);
    query[d] = q;
    norm2 = fmaf(q, q, norm2);
  }
  norm2 = cta_sum<kWarps>(norm2, sums);
  if (segment.similarity == kCosine && norm2 > 0) {
    const float inverse = 1 / sqrtf(norm2);
    for (uint32_t d = threadIdx.x; d < segment.dimension; d += kFetchThreads) {
      query[d] *= inverse;
    }
    __syncthreads();
  }
  fill_table<kWarps>(segment, segment.similarity == kEuclidean, query,
                     const_cast<float*>(slot.table));
  if (threadIdx.x == 0) {
    *slot.state = {segment.codes, segment.size,     segment.code_stride, segment.subspaces,
                   item.beam,     item.visit_limit, 0,                   0,
                   0,             0,                0,                   0,
                   0};
  }
}

// A step finds the neighbours that the walk has not seen (section 4.4) and their distances (4.5), sorts the
// candidates that the worklist would take (4.7), merges them (4.8) and picks the next parents. A walk that has
// ended does not change. Shared memory: step_shared_bytes.
extern "C" __global__ void __launch_bounds__(kFetchThreads)
    host_fetch_step(const __grid_constant__ HostFetch p) {
  __shared__ uint32_t fresh;
  __shared__ uint32_t kept;
  __shared__ uint32_t merged;
  const FetchSlot slot = fetch_slot(p);
  uint64_t* keys = reinterpret_cast<uint64_t*>(block_memory());
  uint32_t* words = reinterpret_cast<uint32_t*>(keys + p.fresh_capacity);
  if (warp_id() == 0) {
    const uint32_t count = filter_row(p, slot, words);
    if (lane_id() == 0) {
      fresh = count;
    }
  }
  __syncthreads();
  group_distances(*slot.state, slot.table, words, fresh, keys);
  __syncthreads();
  if (warp_id() == 0) {
    const uint32_t count = drop_keys(*slot.state, slot.list, keys, fresh);
    if (lane_id() == 0) {
      kept = count;
    }
  }
  __syncthreads();
  if (kept > 0) {
    sort_keys<kWarps>(keys, kept);
  }
  __syncthreads();
  take_keys<kWarps>(p, slot, keys, words, kept, &merged);
}

// Exact scores of candidates, and the best of them (section 4.9). Shared memory: rerank_shared_bytes.
extern "C" __global__ void __launch_bounds__(kFetchThreads)
    host_fetch_rerank(const __grid_constant__ FetchRerank p) {
  uint8_t* shared = block_memory();
  __shared__ Item item;
  __shared__ Segment segment;
  __shared__ float warp_sums[kWarps];
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
  for (uint32_t d = threadIdx.x; d < padded; d += kFetchThreads) {
    const float q = d < segment.dimension ? query_component(segment, item, d) : 0;
    query[bytes ? query_place<kByte>(d, padded) : query_place<kFloat32>(d, padded)] = q;
    if (bytes) {
      squares += static_cast<uint32_t>(static_cast<int32_t>(q) * static_cast<int32_t>(q));
    } else {
      norm2 = fmaf(q, q, norm2);
    }
  }
  if (bytes) {
    squares = cta_sum<kWarps>(squares, warp_sums);
    pack_query<kFetchThreads>(query, padded, kWholeBytes);
  } else {
    norm2 = cta_sum<kWarps>(norm2, warp_sums);
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
  for (uint32_t i = threadIdx.x; i < count; i += kFetchThreads) {
    ordinals[i] = key_ordinal(best.keys[i]);
    scores[i] = -key_distance(best.keys[i]);
  }
  if (threadIdx.x == 0) {
    result->count = count;
  }
}
