// Exact search for a few queries: every row is read once, at the speed of memory. With
// ExactScan.scores a key of every score is written; without, each block keeps the best k of its rows. Of one
// query the block that ends last joins what all have kept; of several exact_few_join does, a block a query.
//
// Launch: blocks, 256 threads, shared memory for one Nearest a query and the queries, as floats or as
// bytes, padded to multiples of 16 components. If scores are written, the blocks are a multiple of the groups of queries.
//
// exact_many does so for many scans at once, for instance of one query over many small segments: a launch
// takes longer than the rows of a small segment.
#include "exact_scan/nearest.cuh"
#include "exact_scan/rows.cuh"

namespace {

using namespace vamana;

constexpr uint32_t kThreads = 256;
constexpr uint32_t kGroups = kThreads / kRowLanes;
// Rows of a block between two looks at whether a buffer may run over.
constexpr uint32_t kUnseen = 256;
// Keys that a thread reads at once when parts are joined.
constexpr uint32_t kJoined = 8;

// One of the blocks that share a scan.
struct Part {
  uint32_t index;
  uint32_t count;
};

struct Shared {
  Nearest* nearest;
  uint32_t* queries;  // query_words each
};

template <int QUERIES>
__device__ __forceinline__ Shared shared_memory(const ExactScan& p, uint8_t* memory) {
  Shared shared;
  shared.nearest = reinterpret_cast<Nearest*>(memory);
  shared.queries =
      reinterpret_cast<uint32_t*>(memory + (p.scores == 0 ? QUERIES * sizeof(Nearest) : 0));
  return shared;
}

// Brings the queries from `first` on, and finds |q|^2 of the ones that this lane scores.
template <bool BYTES, int QUERIES>
__device__ __forceinline__ void load_queries(const ExactScan& p, const Shared& shared,
                                             uint32_t first,
                                             NumberOf<BYTES> (&norms)[kOfLane<QUERIES>]) {
  const uint32_t words = query_words<BYTES>(p.dimension);
#pragma unroll
  for (int q = 0; q < QUERIES; q++) {
    const float* source =
        reinterpret_cast<const float*>(p.queries + static_cast<uint64_t>(first + q) * p.query_stride);
    for (uint32_t i = threadIdx.x; i < words; i += kThreads) {
      shared.queries[q * words + i] =
          first + q < p.query_count ? query_word<BYTES>(source, i, p.dimension) : 0;
    }
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < kOfLane<QUERIES>; i++) {
    norms[i] = 0;
  }
  if (BYTES || p.similarity == kCosine) {
    for (uint32_t q = 0; q < QUERIES; q++) {
      const NumberOf<BYTES> norm =
          sum_of_row(query_part<BYTES>(shared.queries + q * words, p.dimension));
#pragma unroll
      for (int i = 0; i < kOfLane<QUERIES>; i++) {
        norms[i] = q == first_of_lane<QUERIES>() + i ? norm : norms[i];
      }
    }
  }
}

// Joins the parts of one query by the whole block.
__device__ __forceinline__ void join(const ExactScan& p, uint32_t count, Nearest& nearest,
                                     uint32_t query) {
  const uint64_t* parts = reinterpret_cast<const uint64_t*>(p.parts) +
                          static_cast<uint64_t>(query) * count * p.k;
  uint64_t* found = reinterpret_cast<uint64_t*>(p.found) + static_cast<uint64_t>(query) * p.k;
  __syncthreads();
  clear(nearest);
  __syncthreads();
  // the k-th best of the parts' best is no better than the k-th best of all
  for (uint32_t i = threadIdx.x; i < count; i += kThreads) {
    offer(nearest, __ldcg(parts + static_cast<uint64_t>(i) * p.k));
  }
  __syncthreads();
  settle(nearest, p.k);
  if (threadIdx.x == 0) {
    nearest.count = 0;
    nearest.limit = nearest.limit == kNoKey ? kNoKey : nearest.limit + 1;
  }
  __syncthreads();
  const uint32_t total = count * p.k;
  // only the k parts with the best first keys have any below the limit
  const bool fits = p.k * p.k <= kNearestSlots;
  for (uint32_t base = 0; base < total; base += kJoined * kThreads) {
    uint64_t keys[kJoined];
#pragma unroll
    for (uint32_t j = 0; j < kJoined; j++) {
      const uint32_t i = base + j * kThreads + threadIdx.x;
      keys[j] = i < total ? __ldcg(parts + i) : kNoKey;
    }
#pragma unroll
    for (uint32_t j = 0; j < kJoined; j++) {
      offer(nearest, keys[j]);
      if (!fits && __syncthreads_or(nearest.count > kNearestSlots - kThreads)) {
        settle(nearest, p.k);
      }
    }
  }
  __syncthreads();
  settle(nearest, p.k);
  for (uint32_t i = threadIdx.x; i < p.k; i += kThreads) {
    found[i] = i < nearest.count ? nearest.keys[i] : kNoKey;
  }
}

// Keeps what this block has found; with JOINS the last block joins.
template <int QUERIES, bool JOINS>
__device__ __forceinline__ void finish(const ExactScan& p, const Part& part, const Shared& shared) {
  if constexpr (QUERIES > 1) {
    settle_all<QUERIES>(shared.nearest, p.k);
  } else {
    settle(shared.nearest[0], p.k);
  }
  for (uint32_t q = 0; q < p.query_count; q++) {
    const Nearest& nearest = shared.nearest[q];
    uint64_t* own = reinterpret_cast<uint64_t*>(p.parts) +
                    (static_cast<uint64_t>(q) * part.count + part.index) * p.k;
    for (uint32_t i = threadIdx.x; i < p.k; i += kThreads) {
      own[i] = i < nearest.count ? nearest.keys[i] : kNoKey;
    }
  }
  if constexpr (JOINS) {
    __shared__ bool last;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
      uint32_t* ticket = reinterpret_cast<uint32_t*>(p.ticket);
      last = atomicAdd(ticket, 1u) == part.count - 1;
      if (last) {
        *ticket = 0;
      }
    }
    __syncthreads();
    if (last) {
      __threadfence();
      for (uint32_t q = 0; q < p.query_count; q++) {
        join(p, part.count, shared.nearest[q], q);
      }
    }
  }
}

template <bool BYTES, int QUERIES, bool JOINS>
__device__ __forceinline__ void scan(const ExactScan& p, const Part& part) {
  constexpr int kRows = QUERIES == 1 ? 2 : 4;
  const Shared shared = shared_memory<QUERIES>(p, block_memory());
  const bool select = p.scores == 0;
  const uint32_t groups = select ? 1 : (p.query_count + QUERIES - 1) / QUERIES;
  const uint32_t first = part.index % groups * QUERIES;
  constexpr int kOwn = kOfLane<QUERIES>;
  NumberOf<BYTES> norms[kOwn];
  load_queries<BYTES, QUERIES>(p, shared, first, norms);
  if (select) {
    for (int q = 0; q < QUERIES; q++) {
      clear(shared.nearest[q]);
    }
    __syncthreads();
  }
  // of several lanes with the same query the first scores it
  const bool scores = threadIdx.x % kRowLanes * QUERIES % kRowLanes == 0;
  const uint32_t own_query = first_of_lane<QUERIES>();
  const uint32_t group = threadIdx.x / kRowLanes;
  constexpr uint32_t step = kGroups * kRows;
  static_assert(kUnseen % step == 0, "whole steps");
  uint32_t unseen = 0;
  for (uint64_t base = static_cast<uint64_t>(part.index / groups) * step; base < p.candidates;
       base += static_cast<uint64_t>(part.count / groups) * step) {
    const uint8_t* rows[kRows];
    uint32_t numbers[kRows];
#pragma unroll
    for (int r = 0; r < kRows; r++) {
      const uint64_t candidate = base + r * kGroups + group;
      numbers[r] = candidate < p.candidates
                       ? exact_row(p, static_cast<uint32_t>(candidate))
                       : kUnusedSlot;
      const uint32_t row = numbers[r] == kUnusedSlot ? 0 : numbers[r];
      rows[r] = reinterpret_cast<const uint8_t*>(p.rows) + static_cast<uint64_t>(row) * p.row_stride;
    }
    NumberOf<BYTES> sums[kRows][QUERIES];
    NumberOf<BYTES> squares[kRows];
    sum_rows<BYTES>(p.similarity == kEuclidean, rows, shared.queries, p.dimension, sums, squares);
#pragma unroll
    for (int r = 0; r < kRows; r++) {
      const uint64_t candidate = base + r * kGroups + group;
      const uint32_t ordinal =
          numbers[r] == kUnusedSlot ? 0 : exact_ordinal(p, static_cast<uint32_t>(candidate));
#pragma unroll
      for (int i = 0; i < kOwn; i++) {
        const uint32_t query = own_query + i;
        if (scores && first + query < p.query_count && candidate < p.candidates) {
          const float score = row_score<BYTES>(p, sums[r][i], squares[r], norms[i]);
          const uint32_t order =
              numbers[r] == kUnusedSlot ? kExactExcluded : exact_order(score);
          if (!select) {
            reinterpret_cast<float*>(p.scores)[(first + query) * p.score_stride + candidate] =
                exact_selected(order);
          } else if (order != kExactExcluded) {
            offer(shared.nearest[query], exact_key(order, ordinal));
          }
        }
      }
    }
    unseen += step;
    if (select && unseen >= kUnseen) {
      unseen = 0;
      // appended by all, then looked at, and appended again behind the second barrier only
      __syncthreads();
      bool full = false;
      if (threadIdx.x < QUERIES) {
        full = shared.nearest[threadIdx.x].count > kNearestSlots - kUnseen;
      }
      if (__syncthreads_or(full)) {
        if constexpr (QUERIES > 1) {
          settle_all<QUERIES>(shared.nearest, p.k);
        } else {
          settle(shared.nearest[0], p.k);
          __syncthreads();
        }
      }
    }
  }
  if (select) {
    __syncthreads();
    finish<QUERIES, JOINS>(p, part, shared);
  }
}

template <bool BYTES, int QUERIES>
__device__ __forceinline__ void scan_one_of(const ExactMany& m) {
  __shared__ ExactScan p;
  const ExactBlock& own = reinterpret_cast<const ExactBlock*>(m.blocks)[blockIdx.x];
  const uint32_t* source =
      reinterpret_cast<const uint32_t*>(reinterpret_cast<const ExactScan*>(m.scans) + own.scan);
  for (uint32_t i = threadIdx.x; i < sizeof(ExactScan) / sizeof(uint32_t); i += kThreads) {
    reinterpret_cast<uint32_t*>(&p)[i] = source[i];
  }
  __syncthreads();
  scan<BYTES, QUERIES, true>(p, Part{own.part, own.parts});
}

}  // namespace

#define EXACT_FEW(name, bytes, queries, blocks)                                            \
  extern "C" __global__ void __launch_bounds__(kThreads, blocks)                           \
      exact_few_##name##_q##queries(const __grid_constant__ ExactScan p) {                 \
    scan<bytes, queries, queries == 1>(p, Part{blockIdx.x, gridDim.x});                                  \
  }

EXACT_FEW(float, false, 1, 3)
EXACT_FEW(float, false, 4, 2)
EXACT_FEW(float, false, 8, 2)
EXACT_FEW(float, false, 16, 2)
EXACT_FEW(byte, true, 1, 3)
EXACT_FEW(byte, true, 4, 2)
EXACT_FEW(byte, true, 8, 2)
EXACT_FEW(byte, true, 16, 2)

extern "C" __global__ void __launch_bounds__(kThreads)
    exact_few_join(const __grid_constant__ ExactScan p) {
  __shared__ Nearest nearest;
  join(p, p.part_count, nearest, blockIdx.x);
}

#define EXACT_MANY(name, bytes, queries, blocks)                                           \
  extern "C" __global__ void __launch_bounds__(kThreads, blocks)                           \
      exact_many_##name##_q##queries(const __grid_constant__ ExactMany m) {                \
    scan_one_of<bytes, queries>(m);                                                        \
  }

EXACT_MANY(float, false, 1, 3)
EXACT_MANY(float, false, 4, 2)
EXACT_MANY(byte, true, 1, 3)
EXACT_MANY(byte, true, 4, 2)
