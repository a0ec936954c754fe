// Distances of many items and all centroids, as a product of matrices on tensor cores, and the keys by which lists are
// put in order.
#pragma once

#include <cstdint>

#include "cta.cuh"
#include "list_batch/halves.cuh"
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
constexpr uint32_t kMeasureSide = kMeasuredItems * kMeasureStride;  // words of a part of items, or of lists
static_assert(kMeasureItemWarps * kMeasureListWarps * 32 == kMeasureThreads, "warps of a tile");
static_assert(kListTiles == 4, "a thread has eight lists, an octet");

// Square roots to a unit in the last place or so. The squares come from products of matrices, which are rounded more.
struct NearRoot {
  __device__ __forceinline__ float operator()(float value) const { return near_root(value); }
};

// Where a list of a tile lies in shared memory: so that the columns that a thread has of a warp's products are lists
// side by side.
__device__ __forceinline__ uint32_t measured_place(uint32_t list) {
  return list / kOwnLists * kOwnLists + list % 8 / 2 * 8 + list % kOwnLists / 8 * 2 + list % 2;
}

// Input of a block for a tile.
struct MeasureRows {
  const uint16_t* items;   // halves of items batch.from and further
  const BatchItem* known;
  const uint16_t* lists;   // halves of centroids
  const float* norms;
  uint32_t padded;
  uint32_t count;          // of items
  uint32_t of_lists;       // their number
};

// Asks for kMeasuredDepth components from `component` on of a tile's items and lists: both parts of each row, of items,
// then of lists. Behind the last row comes that one again.
__device__ __forceinline__ void fetch_halves(const MeasureRows& rows, uint32_t item, uint32_t list,
                                             uint32_t component, uint32_t* target) {
  constexpr uint32_t kPieces = kMeasuredDepth / 8;  // of 16 bytes
#pragma unroll
  for (uint32_t i = threadIdx.x; i < 2 * kMeasuredItems * kPieces; i += kMeasureThreads) {
    const uint32_t part = i / (kMeasuredItems * kPieces);
    const uint32_t row = i / kPieces % kMeasuredItems;
    const uint32_t piece = i % kPieces;
    const uint32_t own_item = item + row < rows.count ? item + row : rows.count - 1;
    const uint32_t own_list = list + row < rows.of_lists ? list + row : rows.of_lists - 1;
    const uint32_t at = part * rows.padded + component + piece * 8;
    uint32_t* place = target + part * kMeasureSide + piece * 4;
    copy_to_shared(place + row * kMeasureStride, rows.items + uint64_t{own_item} * 2 * rows.padded + at);
    copy_to_shared(place + 2 * kMeasureSide + measured_place(row) * kMeasureStride,
                   rows.lists + uint64_t{own_list} * 2 * rows.padded + at);
  }
  commit_copies();
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

// Facts about a list that its keys need, in shared memory.
struct MeasuredList {
  ListFacts facts;
  float norm2;     // of the centroid less the first one
  float unscale;   // of twice a product
  float reserved[2];
};
static_assert(sizeof(MeasuredList) == 32, "MeasuredList");
static_assert((kMeasuredLists + kMeasuredLists / 8) * sizeof(MeasuredList) <= kBatchMeasureBytes,
              "where rows were");

// The place of a list of a tile among these: every ninth is empty, so that four lists eight apart, which a warp reads
// at once, are in different banks.
__device__ __forceinline__ uint32_t list_place(uint32_t list) { return list + list / 8; }

// Loads the facts of the lists of a tile. Places behind the last list are empty.
__device__ __forceinline__ void load_lists(const MeasureRows& rows, const Lists& lists, uint32_t first,
                                           MeasuredList* target) {
  if (threadIdx.x < kMeasuredLists) {
    const uint32_t list = first + threadIdx.x;
    MeasuredList own = {};
    if (list < rows.of_lists) {
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
  uint32_t* halves = reinterpret_cast<uint32_t*>(shared);
  const uint32_t left = batch.search.count - batch.from;
  const MeasureRows rows = {memory.item_halves + uint64_t{batch.from} * 2 * batch.padded,
                            memory.items + batch.from,
                            memory.list_halves,
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
    fetch_halves(rows, item, list, 0, halves);
#pragma unroll 1
    for (uint32_t component = 0; component < batch.padded; component += kMeasuredDepth) {
      const uint32_t turn = component / kMeasuredDepth % 2;
      if (component + kMeasuredDepth < batch.padded) {
        fetch_halves(rows, item, list, component + kMeasuredDepth, halves + (turn ^ 1) * 4 * kMeasureSide);
        await_copies<1>();
      } else {
        await_copies<0>();
      }
      __syncthreads();
      const uint32_t* own = halves + turn * 4 * kMeasureSide;
      add_products(sums, own + own_items * kMeasureStride,
                   own + 2 * kMeasureSide + own_lists * kMeasureStride);
      __syncthreads();
    }
    MeasuredList* measured = reinterpret_cast<MeasuredList*>(halves);
    load_lists(rows, lists, list, measured);
    __syncthreads();
    write_keys(batch, memory, rows, lists, sums, item + own_items, list + own_lists,
               measured + list_place(own_lists));
    __syncthreads();
  }
}

}  // namespace vamana
