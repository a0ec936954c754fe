// Items and their queries: brought from host memory, and rotated.
#pragma once

#include <cstdint>

#include "cta.cuh"
#include "lists.cuh"
#include "list_batch/halves.cuh"
#include "list_batch/items.cuh"

namespace vamana {

constexpr uint32_t kFetchThreads = 256;

// Brings items from host memory, where many lie side by side: so do the words that threads side by side ask for,
// which are few requests then.
__device__ __forceinline__ void fetch_items(const ListBatch& batch) {
  constexpr uint32_t kWords = sizeof(Item) / 4;
  const BatchMemory memory(batch);
  const uint64_t words = uint64_t{batch.search.count} * kWords;
  for (uint64_t i = uint64_t{blockIdx.x} * kFetchThreads + threadIdx.x; i < words;
       i += uint64_t{gridDim.x} * kFetchThreads) {
    const uint32_t item = static_cast<uint32_t>(i / kWords);
    const uint32_t word = static_cast<uint32_t>(i % kWords);
    reinterpret_cast<uint32_t*>(&memory.items[item].item)[word] =
        host_word(reinterpret_cast<const uint32_t*>(item_address(batch.search, item)) + word);
  }
}

// The same for the queries of known items, each to the row of its rotated query.
__device__ __forceinline__ void fetch_queries(const ListBatch& batch) {
  const BatchMemory memory(batch);
  const Segment& segment = *reinterpret_cast<const Segment*>(batch.segment);
  const uint32_t each =
      (segment.dimension * (segment.byte_scoring != 0 ? 1u : 4u) + 3) / 4;
  const uint64_t words = uint64_t{batch.search.count} * each;
  for (uint64_t i = uint64_t{blockIdx.x} * kFetchThreads + threadIdx.x; i < words;
       i += uint64_t{gridDim.x} * kFetchThreads) {
    const uint32_t item = static_cast<uint32_t>(i / each);
    const uint32_t word = static_cast<uint32_t>(i % each);
    uint32_t* row =
        reinterpret_cast<uint32_t*>(memory.rotated + uint64_t{item} * batch.padded);
    row[word] =
        host_word(reinterpret_cast<const uint32_t*>(memory.items[item].item.query) + word);
  }
}

// Part of a thread in the squared norm of a rotated vector less the first centroid.
__device__ __forceinline__ float center_part(const ListBatch& batch, const float* rotated,
                                             uint32_t begin, uint32_t step) {
  const float* center = reinterpret_cast<const float*>(batch_lists(batch).centroids);
  float norm2 = 0;
  for (uint32_t d = begin; d < batch.padded; d += step) {
    const float r = rotated[d] - __ldg(center + d);
    norm2 = fmaf(r, r, norm2);
  }
  return norm2;
}

// A thread's part of a row of halves: of a rotated vector less the first centroid, whose squared norm is known.
__device__ __forceinline__ void write_center_halves(const ListBatch& batch, const float* rotated,
                                                    float norm2, uint16_t* row, uint32_t begin,
                                                    uint32_t step) {
  const float* center = reinterpret_cast<const float*>(batch_lists(batch).centroids);
  const float scale = measure_scale(norm2);
  for (uint32_t d = begin; d < batch.padded; d += step) {
    write_halves(row, batch.padded, d, (rotated[d] - __ldg(center + d)) * scale);
  }
}

// The queries as centroids are. Blocks also clear what the waves count with, and find norms of centroids.
template <uint32_t FORMAT>
__device__ __forceinline__ void prepare_batch(const ListBatch& batch, uint8_t* shared) {
  const BatchMemory memory(batch);
  using S = BatchState<FORMAT>;
  for (uint32_t list = blockIdx.x * S::kThreads + threadIdx.x; list < batch.lists;
       list += gridDim.x * S::kThreads) {
    memory.counts[list] = 0;
  }
  const float* centroids = reinterpret_cast<const float*>(batch_lists(batch).centroids);
  for (uint32_t list = blockIdx.x * kBatchItemWarps + warp_id(); list < batch.lists;
       list += gridDim.x * kBatchItemWarps) {
    const float* centroid = centroids + uint64_t{list} * batch.padded;
    const float norm2 = warp_sum(center_part(batch, centroid, lane_id(), 32));
    if (lane_id() == 0) {
      memory.norms[list] = norm2;
    }
    write_center_halves(batch, centroid, norm2, memory.list_halves + uint64_t{list} * 2 * batch.padded,
                        lane_id(), 32);
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    memory.control->next_unit = 0;
  }
  const ListSearch search = batch_search(batch);
  S s(search, shared);
  for (uint32_t item = blockIdx.x; item < batch.search.count; item += gridDim.x) {
    load_batch_item(s, batch, memory.items[item].item);
    float* rotated = memory.rotated + uint64_t{item} * batch.padded;
    if (threadIdx.x == 0) {
      s.control.item.query = reinterpret_cast<uint64_t>(rotated);
    }
    cta_sync<S::kWarps>();
    load_list_query(s);
    rotate(s);
    const uint32_t padded = up16(s.control.segment.dimension);
    float* query = memory.queries + uint64_t{item} * padded;
    for (uint32_t d = threadIdx.x; d < padded; d += S::kThreads) {
      query[d] = s.query[d];
    }
    for (uint32_t d = threadIdx.x; d < batch.padded; d += S::kThreads) {
      rotated[d] = s.rotated[d];
    }
    const float center_norm2 =
        cta_sum<S::kWarps>(center_part(batch, s.rotated, threadIdx.x, S::kThreads), s.keys);
    write_center_halves(batch, s.rotated, center_norm2,
                        memory.item_halves + uint64_t{item} * 2 * batch.padded, threadIdx.x,
                        S::kThreads);
    if (threadIdx.x == 0) {
      BatchItem& known = memory.items[item];
      known.query_norm2 = s.query_norm2;
      known.rotated_norm2 = s.rotated_norm2;
      known.center_norm2 = center_norm2;
      known.lists = 0;
      known.all_lists = 0;
      known.candidates = 0;
      known.probed = 0;
      known.most = kBatchWave;
      known.ended = 0;
    }
    cta_sync<S::kWarps>();
  }
}

}  // namespace vamana
