// Distances of many items and all centroids, as a product of matrices on tensor cores, and the keys by which lists are
// put in order.
#pragma once

#include <cstdint>

#include "cta.cuh"
#include "half.cuh"
#include "list_batch/memory.cuh"
#include "tensor.cuh"

namespace vamana {

constexpr uint32_t kMeasureThreads = 256;
constexpr uint32_t kMeasureItemWarps = 2;  // warps above each other, and side by side
constexpr uint32_t kMeasureListWarps = 4;
constexpr uint32_t kOwnItems = kMeasuredItems / kMeasureItemWarps;  // of a warp
constexpr uint32_t kOwnLists = kMeasuredLists / kMeasureListWarps;
constexpr uint32_t kItemTiles = kOwnItems / 16;
constexpr uint32_t kListTiles = kOwnLists / 8;
constexpr uint32_t kMeasureSide = kMeasuredItems * kMeasureStride;  // words of one half of a side's numbers
static_assert(kMeasureItemWarps * kMeasureListWarps * 32 == kMeasureThreads, "warps of a tile");
static_assert(kListTiles == 4, "a thread has eight lists, an octet");

// A power of two that makes a row of this squared norm 4,096 to 8,192 long: its components are halves, and what these
// round off has few bits below the least half.
__device__ __forceinline__ float measure_scale(float norm2) {
  const int32_t exponent = static_cast<int32_t>(float_bits(norm2) >> 23) - 127;
  return bits_float(static_cast<uint32_t>(127 + 12 - (exponent >> 1)) << 23);
}

// One over it.
__device__ __forceinline__ float measure_unscale(float norm2) {
  const int32_t exponent = static_cast<int32_t>(float_bits(norm2) >> 23) - 127;
  return bits_float(static_cast<uint32_t>(127 - 12 + (exponent >> 1)) << 23);
}

// Where a list of a tile lies in shared memory: so that the columns that a thread has of a warp's products are lists
// side by side.
__device__ __forceinline__ uint32_t measured_place(uint32_t list) {
  return list / kOwnLists * kOwnLists + list % 8 / 2 * 8 + list % kOwnLists / 8 * 2 + list % 2;
}

// Two numbers as halves, and what these round off.
__device__ __forceinline__ uint2 split_halves(float first, float second) {
  const uint32_t high = half_word(first, second);
  const float2 rounded = half_values(high);
  return {high, half_word(first - rounded.x, second - rounded.y)};
}

// Rows from `first` on, of which `count` are there, of kMeasuredDepth components from `component` on, less those of the
// first centroid, each row times its scale: as halves, and what these round off kMeasureSide words further. norm2 and
// place know a row's squared norm, and where it goes.
template <class Norm2, class Place>
__device__ __forceinline__ void load_halves(uint32_t* target, const float* rows, const float* center,
                                            uint32_t padded, uint32_t first, uint32_t count,
                                            uint32_t component, Norm2 norm2, Place place) {
  constexpr uint32_t kQuarters = kMeasuredDepth / 4;
#pragma unroll 4
  for (uint32_t i = threadIdx.x; i < kMeasuredItems * kQuarters; i += kMeasureThreads) {
    const uint32_t row = i / kQuarters;
    const uint32_t d = i % kQuarters * 4;
    uint2 low = {0, 0};
    uint2 high = {0, 0};
    if (first + row < count) {
      const float4 four = __ldg(reinterpret_cast<const float4*>(
          rows + uint64_t{first + row} * padded + component + d));
      const float4 less = __ldg(reinterpret_cast<const float4*>(center + component + d));
      const float scale = measure_scale(norm2(first + row));
      low = split_halves((four.x - less.x) * scale, (four.y - less.y) * scale);
      high = split_halves((four.z - less.z) * scale, (four.w - less.w) * scale);
    }
    uint32_t* at = target + place(row) * kMeasureStride + d / 2;
    *reinterpret_cast<uint2*>(at) = {low.x, high.x};
    *reinterpret_cast<uint2*>(at + kMeasureSide) = {low.y, high.y};
  }
}

// Adds the products of a warp's items and lists over the components in shared memory: of the products of both parts
// of two numbers all but that of what was rounded off.
__device__ __forceinline__ void add_products(float (&sums)[kItemTiles][kListTiles][4],
                                             const uint32_t* items, const uint32_t* lists) {
  const uint32_t own = lane_id() / 4 * kMeasureStride + lane_id() % 4;
#pragma unroll
  for (uint32_t step = 0; step < kMeasuredDepth / 16; step++) {
    uint32_t b[kListTiles][2];
    uint32_t b_rest[kListTiles][2];
#pragma unroll
    for (uint32_t n = 0; n < kListTiles; n++) {
      const uint32_t* from = lists + n * 8 * kMeasureStride + step * 8 + own;
      b[n][0] = from[0];
      b[n][1] = from[4];
      b_rest[n][0] = from[kMeasureSide];
      b_rest[n][1] = from[kMeasureSide + 4];
    }
#pragma unroll
    for (uint32_t m = 0; m < kItemTiles; m++) {
      const uint32_t* from = items + m * 16 * kMeasureStride + step * 8 + own;
      const uint32_t a[4] = {from[0], from[8 * kMeasureStride], from[4],
                             from[8 * kMeasureStride + 4]};
      from += kMeasureSide;
      const uint32_t a_rest[4] = {from[0], from[8 * kMeasureStride], from[4],
                                  from[8 * kMeasureStride + 4]};
#pragma unroll
      for (uint32_t n = 0; n < kListTiles; n++) {
        multiply_halves(sums[m][n], a_rest, b[n][0], b[n][1]);
        multiply_halves(sums[m][n], a, b_rest[n][0], b_rest[n][1]);
        multiply_halves(sums[m][n], a, b[n][0], b[n][1]);
      }
    }
  }
}

// Four lists side by side, as keys need them.
struct MeasuredLists {
  ListFacts facts[4];
  float norms[4];
  float unscales[4];
};

__device__ __forceinline__ MeasuredLists measured_lists(const BatchMemory& memory,
                                                        const Lists& lists, uint32_t first) {
  MeasuredLists own;
#pragma unroll
  for (uint32_t j = 0; j < 4; j++) {
    const bool valid = first + j < lists.lists;
    const uint4 words =
        valid ? __ldg(reinterpret_cast<const uint4*>(lists.facts) + first + j) : uint4{0, 0, 0, 0};
    own.facts[j] = {words.x, __uint_as_float(words.y), __uint_as_float(words.z), 0};
    own.norms[j] = valid ? memory.norms[first + j] : 0;
    own.unscales[j] = 2 * measure_unscale(own.norms[j]);
  }
  return own;
}

// Writes the keys of a tile of items and lists, and of each item the least key of every eight lists. Squared distances
// are |q|^2 + |c|^2 - 2 <q, c>, all less the first centroid, so that little is lost where vectors lie far from the
// origin.
__device__ __forceinline__ void write_keys(const ListBatch& batch, const BatchMemory& memory,
                                           const Lists& lists,
                                           const float (&sums)[kItemTiles][kListTiles][4],
                                           uint32_t first_item, uint32_t first_list,
                                           uint32_t count) {
  uint32_t nearest[2 * kItemTiles];
#pragma unroll
  for (uint32_t i = 0; i < 2 * kItemTiles; i++) {
    nearest[i] = kUnusedSlot;
  }
  const uint32_t octet = first_list + lane_id() % 4 * 8;
#pragma unroll
  for (uint32_t half = 0; half < 2; half++) {
    const MeasuredLists own = measured_lists(memory, lists, octet + 4 * half);
#pragma unroll
    for (uint32_t i = 0; i < 2 * kItemTiles; i++) {
      const uint32_t item = first_item + i * 8 + lane_id() / 4;
      if (item < count) {
        const BatchItem& known = memory.items[batch.from + item];
        const float unscale = measure_unscale(known.center_norm2);
        uint32_t keys[4];
#pragma unroll
        for (uint32_t j = 0; j < 4; j++) {
          const float product = sums[i / 2][2 * half + j / 2][i % 2 * 2 + j % 2] * unscale;
          const float squares = known.center_norm2 + own.norms[j] - product * own.unscales[j];
          keys[j] = list_key(lists, own.facts[j], fmaxf(squares, 0), known.rotated_norm2);
          nearest[i] = keys[j] < nearest[i] ? keys[j] : nearest[i];
        }
        // written together, also for places behind the last list
        *reinterpret_cast<uint4*>(memory.keys + uint64_t{item} * batch_keys(batch.lists) + octet +
                                  4 * half) = {keys[0], keys[1], keys[2], keys[3]};
      }
    }
  }
#pragma unroll
  for (uint32_t i = 0; i < 2 * kItemTiles; i++) {
    const uint32_t item = first_item + i * 8 + lane_id() / 4;
    if (item < count) {
      memory.nearest[uint64_t{item} * batch_octets(batch.lists) + octet / 8] = nearest[i];
    }
  }
}

// Keys of all lists of the items from..from + rows - 1.
__device__ __forceinline__ void measure_batch(const ListBatch& batch, uint8_t* shared) {
  const BatchMemory memory(batch);
  const Lists lists = batch_lists(batch);
  uint32_t* items = reinterpret_cast<uint32_t*>(shared);
  uint32_t* centroids = items + 2 * kMeasureSide;
  const float* center = reinterpret_cast<const float*>(lists.centroids);
  const float* rows = memory.rotated + uint64_t{batch.from} * batch.padded;
  const uint32_t left = batch.search.count - batch.from;
  const uint32_t count = left < batch.rows ? left : batch.rows;
  const uint32_t wide = (batch.lists + kMeasuredLists - 1) / kMeasuredLists;
  const uint32_t tiles = (count + kMeasuredItems - 1) / kMeasuredItems * wide;
  const uint32_t own_items = warp_id() % kMeasureItemWarps * kOwnItems;
  const uint32_t own_lists = warp_id() / kMeasureItemWarps * kOwnLists;
#pragma unroll 1
  for (uint32_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const uint32_t item = tile / wide * kMeasuredItems;
    const uint32_t list = tile % wide * kMeasuredLists;
    float sums[kItemTiles][kListTiles][4];
#pragma unroll
    for (uint32_t m = 0; m < kItemTiles; m++) {
#pragma unroll
      for (uint32_t n = 0; n < kListTiles; n++) {
#pragma unroll
        for (uint32_t i = 0; i < 4; i++) {
          sums[m][n][i] = 0;
        }
      }
    }
#pragma unroll 1
    for (uint32_t component = 0; component < batch.padded; component += kMeasuredDepth) {
      load_halves(
          items, rows, center, batch.padded, item, count, component,
          [&](uint32_t row) { return memory.items[batch.from + row].center_norm2; },
          [](uint32_t row) { return row; });
      load_halves(
          centroids, center, center, batch.padded, list, batch.lists, component,
          [&](uint32_t row) { return memory.norms[row]; },
          [](uint32_t row) { return measured_place(row); });
      __syncthreads();
      add_products(sums, items + own_items * kMeasureStride, centroids + own_lists * kMeasureStride);
      __syncthreads();
    }
    write_keys(batch, memory, lists, sums, item + own_items, list + own_lists, count);
  }
}

}  // namespace vamana
