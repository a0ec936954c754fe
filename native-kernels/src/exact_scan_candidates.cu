// Narrows and finishes the candidates that the approximate products have kept.
//
// exact_narrow: a block a query, shared memory for `capacity` keys. Sorts the buffer, drops what
// cannot be among the best k any more, and sets the threshold. exact_finish: a block of 256
// threads a query, shared memory for `capacity` keys and a query padded to whole chunks. Scores
// the buffer in single precision and writes found; sets redo where the buffer ran over, or holds
// fewer than k although there are rows without products.
#include "block_bitonic.cuh"
#include "cta.cuh"
#include "exact_scan/rows.cuh"
#include "vamana/exact_bound.h"

namespace {

using namespace vamana;

constexpr uint32_t kThreads = 256;

__device__ __forceinline__ uint32_t* of_query(uint64_t array) {
  return reinterpret_cast<uint32_t*>(array) + blockIdx.x;
}

__device__ __forceinline__ ExactEntry* buffer_of_query(const ExactScan& p) {
  return reinterpret_cast<ExactEntry*>(p.buffers) + static_cast<uint64_t>(blockIdx.x) * p.capacity;
}

template <bool BYTES>
__device__ __forceinline__ void finish(const ExactScan& p) {
  constexpr int kRows = 2;
  uint64_t* keys = reinterpret_cast<uint64_t*>(block_memory());
  uint32_t* query = reinterpret_cast<uint32_t*>(keys + p.capacity);
  const ExactEntry* buffer = buffer_of_query(p);
  uint64_t* found = reinterpret_cast<uint64_t*>(p.found) + static_cast<uint64_t>(blockIdx.x) * p.k;
  const uint32_t count = *of_query(p.counts);
  const bool few = count < p.k && reinterpret_cast<const ExactFacts*>(p.facts)->skipped > 0;
  if (count > p.capacity || few) {
    for (uint32_t i = threadIdx.x; i < p.k; i += kThreads) {
      found[i] = kNoKey;
    }
    if (threadIdx.x == 0) {
      *of_query(p.redo) = 1;
    }
    return;
  }
  const uint32_t words = query_words<BYTES>(p.dimension);
  const float* source = reinterpret_cast<const float*>(
      p.queries + static_cast<uint64_t>(blockIdx.x) * p.query_stride);
  for (uint32_t i = threadIdx.x; i < words; i += kThreads) {
    query[i] = query_word<BYTES>(source, i, p.dimension);
  }
  __syncthreads();
  const NumberOf<BYTES> norm = sum_of_row(query_part<BYTES>(query, p.dimension));
  const uint32_t group = threadIdx.x / kRowLanes;
  constexpr uint32_t kGroups = kThreads / kRowLanes;
  for (uint32_t base = 0; base < count; base += kGroups * kRows) {
    uint32_t candidates[kRows];
    const uint8_t* rows[kRows];
#pragma unroll
    for (int r = 0; r < kRows; r++) {
      const uint32_t i = base + r * kGroups + group;
      candidates[r] = buffer[i < count ? i : 0].candidate;
      const uint32_t row = exact_row(p, candidates[r]);
      rows[r] = reinterpret_cast<const uint8_t*>(p.rows) +
                static_cast<uint64_t>(row == kUnusedSlot ? 0 : row) * p.row_stride;
    }
    NumberOf<BYTES> sums[kRows][1];
    NumberOf<BYTES> squares[kRows];
    sum_rows<BYTES>(p.similarity == kEuclidean, rows, query, p.dimension, sums, squares);
#pragma unroll
    for (int r = 0; r < kRows; r++) {
      const uint32_t i = base + r * kGroups + group;
      if (i < count && threadIdx.x % kRowLanes == 0) {
        const float score = row_score<BYTES>(p, sums[r][0], squares[r], norm);
        keys[i] = exact_key(exact_order(score), exact_ordinal(p, candidates[r]));
      }
    }
  }
  __syncthreads();
  sort_slots(keys, pad_keys(keys, count));
  for (uint32_t i = threadIdx.x; i < p.k; i += kThreads) {
    found[i] = i < count ? keys[i] : kNoKey;
  }
}

}  // namespace

extern "C" __global__ void exact_narrow(const __grid_constant__ ExactScan p) {
  __shared__ uint32_t kept;
  uint64_t* keys = reinterpret_cast<uint64_t*>(block_memory());
  uint32_t* count_of_query = of_query(p.counts);
  const uint32_t count = *count_of_query;
  if (count > p.capacity) {
    // nothing more is appended; the count tells that the query has to be asked again
    if (threadIdx.x == 0) {
      *of_query(p.thresholds) = exact_never(p.format);
    }
    return;
  }
  if (count < p.k) {
    return;
  }
  ExactEntry* buffer = buffer_of_query(p);
  for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
    const ExactEntry entry = buffer[i];
    keys[i] = exact_key(exact_rank(p.format, entry.value), entry.candidate);
  }
  if (threadIdx.x == 0) {
    kept = 0;
  }
  __syncthreads();
  sort_slots(keys, pad_keys(keys, count));
  const uint32_t limit_rank = static_cast<uint32_t>(keys[p.k - 1] >> 32);
  const uint32_t limit = exact_floats(p.format) ? float_bits(unsortable(~limit_rank))
                                                : ~limit_rank ^ 0x80000000u;
  const uint32_t threshold = exact_threshold(p.format, limit, *of_query(p.slacks));
  const uint32_t last = exact_rank(p.format, threshold);
  for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
    const uint32_t rank = static_cast<uint32_t>(keys[i] >> 32);
    if (rank <= last) {
      const uint32_t sum =
          exact_floats(p.format) ? float_bits(unsortable(~rank)) : ~rank ^ 0x80000000u;
      buffer[i] = ExactEntry{sum, static_cast<uint32_t>(keys[i])};
      atomicMax(&kept, i + 1);
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    *count_of_query = kept;
    *of_query(p.thresholds) = threshold;
  }
}

extern "C" __global__ void __launch_bounds__(kThreads)
    exact_finish_float(const __grid_constant__ ExactScan p) {
  finish<false>(p);
}

extern "C" __global__ void __launch_bounds__(kThreads)
    exact_finish_byte(const __grid_constant__ ExactScan p) {
  finish<true>(p);
}
