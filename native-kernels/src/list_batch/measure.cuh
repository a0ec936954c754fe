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

// Square roots to a unit in the last place or so. The squares come from products of matrices, which are rounded more.
struct NearRoot {
  __device__ __forceinline__ float operator()(float value) const { return near_root(value); }
};

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

// Four components of a row, less those of the first centroid and times the row's scale, as halves, and what these round
// off kMeasureSide words further.
__device__ __forceinline__ void store_halves(uint32_t* target, const float4& four, const float4& less,
                                             float scale) {
  const uint2 low = split_halves((four.x - less.x) * scale, (four.y - less.y) * scale);
  const uint2 high = split_halves((four.z - less.z) * scale, (four.w - less.w) * scale);
  *reinterpret_cast<uint2*>(target) = {low.x, high.x};
  *reinterpret_cast<uint2*>(target + kMeasureSide) = {low.y, high.y};
}

// What a block reads for a tile.
struct MeasureRows {
  const float* items;      // rows of padded components, of items batch.from and further
  const BatchItem* known;
  const float* centroids;  // rows of padded components
  const float* norms;
  uint32_t padded;
  uint32_t count;          // of items
  uint32_t lists;
};

// Components from `component` on of a tile's items and lists. Those of both are asked for together.
__device__ __forceinline__ void load_halves(const MeasureRows& rows, uint32_t item, uint32_t list,
                                            uint32_t component, uint32_t* items, uint32_t* lists) {
  constexpr uint32_t kQuarters = kMeasuredDepth / 4;
#pragma unroll
  for (uint32_t turn = 0; turn < kMeasuredItems * kQuarters / kMeasureThreads; turn++) {
    const uint32_t row = (turn * kMeasureThreads + threadIdx.x) / kQuarters;
    const uint32_t d = threadIdx.x % kQuarters * 4;
    float4 of_item = {0, 0, 0, 0};
    float4 of_list = {0, 0, 0, 0};
    float norm2_of_item = 0;
    float norm2_of_list = 0;
    const float4 less = __ldg(reinterpret_cast<const float4*>(rows.centroids + component + d));
    const bool has_item = item + row < rows.count;
    const bool has_list = list + row < rows.lists;
    if (has_item) {
      of_item = __ldg(reinterpret_cast<const float4*>(
          rows.items + uint64_t{item + row} * rows.padded + component + d));
      norm2_of_item = __ldg(&rows.known[item + row].center_norm2);
    }
    if (has_list) {
      of_list = __ldg(reinterpret_cast<const float4*>(
          rows.centroids + uint64_t{list + row} * rows.padded + component + d));
      norm2_of_list = __ldg(&rows.norms[list + row]);
    }
    store_halves(items + row * kMeasureStride + d / 2, of_item, has_item ? less : of_item,
                 measure_scale(norm2_of_item));
    store_halves(lists + measured_place(row) * kMeasureStride + d / 2, of_list,
                 has_list ? less : of_list, measure_scale(norm2_of_list));
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

// What keys need of a list, in shared memory.
struct MeasuredList {
  ListFacts facts;
  float norm2;     // of the centroid less the first one
  float unscale;   // of twice a product
  float reserved[2];
};
static_assert(sizeof(MeasuredList) == 32, "MeasuredList");
static_assert((kMeasuredLists + kMeasuredLists / 8) * sizeof(MeasuredList) <= 2 * kMeasureSide * 4,
              "where rows were");

// The place of a list of a tile among these: every ninth is empty, so that four lists eight apart, which a warp reads
// at once, are in different banks.
__device__ __forceinline__ uint32_t list_place(uint32_t list) { return list + list / 8; }

// What keys need of the lists of a tile; those behind the last one are empty.
__device__ __forceinline__ void load_lists(const MeasureRows& rows, const Lists& lists, uint32_t first,
                                           MeasuredList* target) {
  if (threadIdx.x < kMeasuredLists) {
    const uint32_t list = first + threadIdx.x;
    MeasuredList own = {};
    if (list < rows.lists) {
      const uint4 words = __ldg(reinterpret_cast<const uint4*>(lists.facts) + list);
      own.facts = {words.x, __uint_as_float(words.y), __uint_as_float(words.z), 0};
      own.norm2 = __ldg(&rows.norms[list]);
      own.unscale = 2 * measure_unscale(own.norm2);
    }
    target[list_place(threadIdx.x)] = own;
  }
}

// Writes the keys of a warp's items and lists, and of each item the least key of every eight lists. Squared distances
// are |q|^2 + |c|^2 - 2 <q, c>, all less the first centroid, so that little is lost where vectors lie far from the
// origin.
__device__ __forceinline__ void write_keys(const ListBatch& batch, const BatchMemory& memory,
                                           const MeasureRows& rows, const Lists& lists,
                                           const float (&sums)[kItemTiles][kListTiles][4],
                                           uint32_t first_item, uint32_t first_list,
                                           const MeasuredList* own) {
  const uint32_t t = lane_id() % 4;
  own += list_place(t * 8);
#pragma unroll
  for (uint32_t i = 0; i < 2 * kItemTiles; i++) {
    const uint32_t item = first_item + i * 8 + lane_id() / 4;
    if (item < rows.count) {
      const float center_norm2 = __ldg(&rows.known[item].center_norm2);
      const float norm2 = __ldg(&rows.known[item].rotated_norm2);
      const float unscale = measure_unscale(center_norm2);
      uint32_t keys[8];
      uint32_t nearest = kUnusedSlot;
#pragma unroll
      for (uint32_t j = 0; j < 8; j++) {
        const float product = sums[i / 2][j / 2][i % 2 * 2 + j % 2] * unscale;
        const float squares = center_norm2 + own[j].norm2 - product * own[j].unscale;
        keys[j] = list_key(lists, own[j].facts, fmaxf(squares, 0), norm2, NearRoot());
        nearest = keys[j] < nearest ? keys[j] : nearest;
      }
      // written together, also for places behind the last list
      const uint32_t octet = first_list / 8 + t;
      uint4* target = reinterpret_cast<uint4*>(memory.keys + uint64_t{item} * batch_keys(batch.lists) +
                                               8 * octet);
      target[0] = {keys[0], keys[1], keys[2], keys[3]};
      target[1] = {keys[4], keys[5], keys[6], keys[7]};
      memory.nearest[uint64_t{item} * batch_octets(batch.lists) + octet] = nearest;
    }
  }
}

// Keys of all lists of the items from..from + rows - 1.
__device__ __forceinline__ void measure_batch(const ListBatch& batch, uint8_t* shared) {
  const BatchMemory memory(batch);
  const Lists lists = batch_lists(batch);
  uint32_t* items = reinterpret_cast<uint32_t*>(shared);
  uint32_t* centroids = items + 2 * kMeasureSide;
  const uint32_t left = batch.search.count - batch.from;
  const MeasureRows rows = {memory.rotated + uint64_t{batch.from} * batch.padded,
                            memory.items + batch.from,
                            reinterpret_cast<const float*>(lists.centroids),
                            memory.norms,
                            batch.padded,
                            left < batch.rows ? left : batch.rows,
                            batch.lists};
  const uint32_t wide = (batch.lists + kMeasuredLists - 1) / kMeasuredLists;
  const uint32_t tiles = (rows.count + kMeasuredItems - 1) / kMeasuredItems * wide;
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
      load_halves(rows, item, list, component, items, centroids);
      __syncthreads();
      add_products(sums, items + own_items * kMeasureStride, centroids + own_lists * kMeasureStride);
      __syncthreads();
    }
    MeasuredList* measured = reinterpret_cast<MeasuredList*>(centroids);
    load_lists(rows, lists, list, measured);
    __syncthreads();
    write_keys(batch, memory, rows, lists, sums, item + own_items, list + own_lists,
               measured + list_place(own_lists));
    __syncthreads();
  }
}

}  // namespace vamana
