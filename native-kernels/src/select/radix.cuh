// Radix Select (thesis of Hanak, section 3.7.2): the k-th smallest pair of a sequence by digits, most
// significant first. Digits come from the key's sortable bits and then from the id, so there are
// no ties, and any input ends after six passes.
#pragma once

#include <cstdint>

#include "select/best.cuh"
#include "select/rows.cuh"

namespace vamana {
namespace select {

constexpr int kDigitBits = 11;
constexpr uint32_t kDigits = 1u << kDigitBits;

// Shared memory in which a block finds the k-th pair.
template <int B>
struct RadixShared {
  uint32_t histogram[kDigits];
  uint32_t sums[B / 32];
  uint32_t digit;
  uint32_t below;
  uint32_t inside;
  uint32_t filled;
};

// The digit in which the running sum of the histogram passes rank (from 0); all threads get it, how
// many elements have lower digits, and how many have it.
template <int B>
__device__ __forceinline__ void find_digit(RadixShared<B>& shared, uint32_t rank) {
  constexpr uint32_t EACH = kDigits / B;
  uint32_t own = 0;
#pragma unroll
  for (uint32_t i = 0; i < EACH; i++) {
    own += shared.histogram[threadIdx.x * EACH + i];
  }
  uint32_t sum = own;
#pragma unroll
  for (int apart = 1; apart < 32; apart <<= 1) {
    const uint32_t other = __shfl_up_sync(0xFFFFFFFFu, sum, apart);
    sum += (threadIdx.x & 31) >= apart ? other : 0;
  }
  if ((threadIdx.x & 31) == 31) {
    shared.sums[threadIdx.x / 32] = sum;
  }
  __syncthreads();
  uint32_t before = sum - own;
  for (uint32_t w = 0; w < threadIdx.x / 32; w++) {
    before += shared.sums[w];
  }
  if (rank >= before && rank < before + own) {
    for (uint32_t i = 0; i < EACH; i++) {
      const uint32_t count = shared.histogram[threadIdx.x * EACH + i];
      if (rank < before + count) {
        shared.digit = threadIdx.x * EACH + i;
        shared.below = before;
        shared.inside = count;
        break;
      }
      before += count;
    }
  }
  __syncthreads();
}

// The pair of a rank (from 0) among count pairs, which for_each(f) hands to f, each thread its own
// ones; rank < count. list is shared memory of B * T pairs.
template <int B, int T, typename ForEach>
__device__ __forceinline__ Pair kth_pair(uint32_t count, uint32_t rank, RadixShared<B>& shared,
                                         Pair* list, ForEach for_each) {
  Pair prefix = 0;
  int shift = 64;
  uint32_t inside = count;
  while (inside > B * T && shift > 0) {
    const int bits = min(kDigitBits, shift);
    const int at = shift - bits;
    for (uint32_t i = threadIdx.x; i < kDigits; i += B) {
      shared.histogram[i] = 0;
    }
    __syncthreads();
    for_each([&](Pair pair) {
      if (shift == 64 || pair >> shift == prefix) {
        atomicAdd(&shared.histogram[pair >> at & ((1u << bits) - 1)], 1u);
      }
    });
    __syncthreads();
    find_digit<B>(shared, rank);
    prefix = prefix << bits | shared.digit;
    rank -= shared.below;
    inside = shared.inside;
    shift = at;
    __syncthreads();
  }
  if (shift == 0) {
    return prefix;
  }
  if (threadIdx.x == 0) {
    shared.filled = 0;
  }
  __syncthreads();
  for_each([&](Pair pair) {
    if (shift == 64 || pair >> shift == prefix) {
      list[atomicAdd(&shared.filled, 1u)] = pair;
    }
  });
  __syncthreads();
  best_of<T, B>(list, inside, rank + 1);
  const Pair found = list[rank];
  __syncthreads();
  return found;
}

// Hands every pair of a part of a row to f.
template <int B, int V, typename Take>
__device__ __forceinline__ void each_pair(const Row& row, Take take) {
  for (uint32_t base = row.begin; base < row.end; base += B * 4 * V) {
    Tile<V> tile;
    tile.load(row, base, threadIdx.x, B);
#pragma unroll
    for (int i = 0; i < 4 * V; i++) {
      if (tile.column(i) < row.end) {
        take(make_pair(tile.key(i), tile.column(i)));
      }
    }
  }
}

// Writes the pairs of a part of a row that are not above the last one wanted, in any order, to places
// that a counter gives out.
template <int B, int V>
__device__ __forceinline__ void emit_up_to(const Select& p, uint32_t index, const Row& row,
                                           Pair last, uint32_t* counter) {
  const float limit = pair_key(last);
  for (uint32_t base = row.begin; base < row.end; base += B * 4 * V) {
    Tile<V> tile;
    tile.load(row, base, threadIdx.x, B);
    uint32_t wanted = 0;
    if (tile.any_below(limit, true)) {
#pragma unroll
      for (int i = 0; i < 4 * V; i++) {
        if (!(tile.key(i) > limit) && tile.column(i) < row.end &&
            make_pair(tile.key(i), tile.column(i)) <= last) {
          wanted |= 1u << i;
        }
      }
    }
    uint32_t place = wanted == 0 ? 0 : atomicAdd(counter, static_cast<uint32_t>(__popc(wanted)));
#pragma unroll
    for (int i = 0; i < 4 * V; i++) {
      if ((wanted >> i & 1) != 0) {
        put_result(p, index, place++, make_pair(tile.key(i), tile.column(i)));
      }
    }
  }
}

template <int B>
__device__ __forceinline__ void pad_result(const Select& p, uint32_t row) {
  for (uint32_t place = p.n + threadIdx.x; place < p.k; place += B) {
    put_result(p, row, place, kNoPair);
  }
}

// A block for each row; in any order.
template <int B, int T, int V>
__device__ __forceinline__ void radix_row(const Select& p, RadixShared<B>& shared, Pair* list) {
  const Row row = whole_row(p, blockIdx.x);
  Pair last = kNoPair;
  if (p.k < p.n) {
    last = kth_pair<B, T>(p.n, p.k - 1, shared, list,
                          [&](auto take) { each_pair<B, V>(row, take); });
  }
  if (threadIdx.x == 0) {
    shared.filled = 0;
  }
  __syncthreads();
  emit_up_to<B, V>(p, blockIdx.x, row, last, &shared.filled);
  pad_result<B>(p, blockIdx.x);
}

}  // namespace select
}  // namespace vamana
