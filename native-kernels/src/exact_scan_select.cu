// The best k of all scores of a query, for any k, and the union of two lists of hits.
//
// exact_select: a block of 1,024 threads a query, shared memory for as many keys as the power of
// two that holds k. Reads scores; writes found. exact_join: a block a query; joined = the best k
// of found and earlier.
#include "exact_scan/sort.cuh"
#include "vamana/exact_scan.h"

namespace {

using namespace vamana;

constexpr uint32_t kThreads = 1024;
constexpr uint32_t kDigitBits = 11;
constexpr uint32_t kBins = 1u << kDigitBits;

struct Selection {
  uint32_t bins[kBins];
  uint32_t warps[kThreads / 32];
  uint32_t digit;
  uint32_t below;
  uint32_t count;
};

// Finds the bin that holds the rank-th of the counted values, by the whole block.
__device__ __forceinline__ void find_bin(Selection& s, uint32_t rank) {
  const uint32_t a = s.bins[2 * threadIdx.x];
  const uint32_t b = s.bins[2 * threadIdx.x + 1];
  uint32_t sum = a + b;
  for (uint32_t step = 1; step < 32; step *= 2) {
    const uint32_t other = __shfl_up_sync(0xFFFFFFFFu, sum, step);
    sum += threadIdx.x % 32 >= step ? other : 0;
  }
  if (threadIdx.x % 32 == 31) {
    s.warps[threadIdx.x / 32] = sum;
  }
  __syncthreads();
  uint32_t before = sum - a - b;
  for (uint32_t w = 0; w < threadIdx.x / 32; w++) {
    before += s.warps[w];
  }
  if (before < rank && rank <= before + a) {
    s.digit = 2 * threadIdx.x;
    s.below = before;
  } else if (before + a < rank && rank <= before + a + b) {
    s.digit = 2 * threadIdx.x + 1;
    s.below = before + a;
  }
  __syncthreads();
}

// The rank-th smallest value, and how many of those equal to it belong to the first rank.
__device__ __forceinline__ uint32_t find_value(Selection& s, const uint32_t* values, uint32_t count,
                                               uint32_t rank, uint32_t& equal) {
  uint32_t prefix = 0;
  uint32_t known = 0;
  for (int shift = 21; shift >= 0; shift = shift == 21 ? 10 : shift == 10 ? 0 : -1) {
    const uint32_t bits = shift == 0 ? 10 : kDigitBits;
    for (uint32_t i = threadIdx.x; i < kBins; i += kThreads) {
      s.bins[i] = 0;
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < count; i += kThreads) {
      const uint32_t value = values[i];
      if ((value & known) == prefix) {
        atomicAdd(&s.bins[(value >> shift) & ((1u << bits) - 1)], 1u);
      }
    }
    __syncthreads();
    find_bin(s, rank);
    prefix |= s.digit << shift;
    known |= ((1u << bits) - 1) << shift;
    rank -= s.below;
    __syncthreads();
  }
  equal = rank;
  return prefix;
}

// Keys of the candidates with the first `equal` of those that have the value, in their order.
__device__ __forceinline__ void take_equal(const ExactScan& p, Selection& s, const uint32_t* values,
                                           uint32_t value, uint32_t equal, uint64_t* keys) {
  uint32_t taken = 0;
  for (uint32_t base = 0; base < p.candidates && taken < equal; base += kThreads) {
    const uint32_t i = base + threadIdx.x;
    const bool match = i < p.candidates && values[i] == value;
    const uint32_t ballot = __ballot_sync(0xFFFFFFFFu, match);
    if (threadIdx.x % 32 == 0) {
      s.warps[threadIdx.x / 32] = __popc(ballot);
    }
    __syncthreads();
    uint32_t slot = taken + __popc(ballot & ((1u << (threadIdx.x % 32)) - 1));
    for (uint32_t w = 0; w < kThreads / 32; w++) {
      slot += w < threadIdx.x / 32 ? s.warps[w] : 0;
      taken += s.warps[w];
    }
    if (match && slot < equal) {
      keys[slot] = exact_key(value, exact_ordinal(p, i));
    }
    __syncthreads();
  }
}

}  // namespace

extern "C" __global__ void __launch_bounds__(kThreads, 1)
    exact_select(const __grid_constant__ ExactScan p) {
  extern __shared__ __align__(16) uint8_t memory[];
  __shared__ Selection s;
  uint64_t* keys = reinterpret_cast<uint64_t*>(memory);
  const uint32_t* values =
      reinterpret_cast<const uint32_t*>(p.scores) + blockIdx.x * p.score_stride;
  uint64_t* found = reinterpret_cast<uint64_t*>(p.found) + static_cast<uint64_t>(blockIdx.x) * p.k;
  uint32_t slots = 1;
  while (slots < p.k) {
    slots *= 2;
  }
  for (uint32_t i = threadIdx.x; i < slots; i += kThreads) {
    keys[i] = kNoKey;
  }
  if (threadIdx.x == 0) {
    s.count = 0;
  }
  uint32_t equal = 0;
  uint32_t limit = kExactExcluded;
  if (p.k < p.candidates) {
    limit = find_value(s, values, p.candidates, p.k, equal);
  }
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < p.candidates; i += kThreads) {
    if (values[i] < limit) {
      keys[atomicAdd(&s.count, 1u)] = exact_key(values[i], exact_ordinal(p, i));
    }
  }
  __syncthreads();
  if (limit != kExactExcluded) {
    take_equal(p, s, values, limit, equal, keys + s.count);
  }
  sort_keys(keys, slots);
  for (uint32_t i = threadIdx.x; i < p.k; i += kThreads) {
    found[i] = keys[i];
  }
}

extern "C" __global__ void exact_join(const __grid_constant__ ExactScan p) {
  const uint64_t offset = static_cast<uint64_t>(blockIdx.x) * p.k;
  uint64_t* joined = reinterpret_cast<uint64_t*>(p.joined) + offset;
  for (int side = 0; side < 2; side++) {
    const uint64_t* own = reinterpret_cast<const uint64_t*>(side == 0 ? p.earlier : p.found) + offset;
    const uint64_t* other =
        reinterpret_cast<const uint64_t*>(side == 0 ? p.found : p.earlier) + offset;
    for (uint32_t i = threadIdx.x; i < p.k; i += blockDim.x) {
      const uint64_t key = own[i];
      uint32_t low = 0;
      uint32_t high = p.k;
      while (low < high) {
        const uint32_t middle = (low + high) / 2;
        // what is in neither list goes to its own place once: that of earlier first
        if (other[middle] < key || (side == 1 && other[middle] == key)) {
          low = middle + 1;
        } else {
          high = middle;
        }
      }
      if (i + low < p.k) {
        joined[i + low] = key;
      }
    }
  }
}
