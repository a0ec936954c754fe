// Kernels of walks whose neighbours the CPU fetches (BANG base); vamana/host_fetch.h describes them.
#include "host_fetch.cuh"

#include "asymmetric.cuh"
#include "query.cuh"
#include "sort.cuh"

namespace {

using namespace vamana;

constexpr int kWarps = kFetchThreads / 32;

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
  if (warp_id() == 0) {
    const uint64_t place = reinterpret_cast<const uint32_t*>(p.slots)[blockIdx.x];
    copy_host_words(item, p.items + place * sizeof(Item));
    __syncwarp();
    copy_words(segment, reinterpret_cast<const void*>(item.segment));
  }
  __syncthreads();
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
