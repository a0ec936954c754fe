// Which items search which lists in a wave, sorted by lists: count, find starts, place; and the residuals.
#pragma once

#include <cstdint>

#include "cta.cuh"
#include "list_batch/memory.cuh"

namespace vamana {

constexpr uint32_t kPairThreads = 256;
constexpr uint32_t kScanThreads = 1024;

// A thread a list of an item in the wave, or one for what is left of its nearest list.
__device__ __forceinline__ void count_batch(const ListBatch& batch) {
  const BatchMemory memory(batch);
  const uint32_t each = wave_of_pieces(batch) ? 1 : batch.wave;
  const uint64_t pairs = uint64_t{batch.search.count} * each;
  for (uint64_t i = uint64_t{blockIdx.x} * kPairThreads + threadIdx.x; i < pairs;
       i += uint64_t{gridDim.x} * kPairThreads) {
    const uint32_t item = static_cast<uint32_t>(i / each);
    const uint32_t place = static_cast<uint32_t>(i % each);
    const BatchItem& known = memory.items[item];
    const uint32_t* order = memory.order + uint64_t{item} * batch.kept;
    if (wave_of_pieces(batch)) {
      if (pieces_left(batch_lists(batch), known, order[0]) > 0) {
        atomicAdd(&memory.counts[order[0]], 1u);
      }
    } else if (place < lists_in_wave(batch, known)) {
      atomicAdd(&memory.counts[order[known.probed + place]], 1u);
    }
  }
}

// Sum over the threads before this one; `all` becomes the sum of all. Ends with a barrier.
__device__ __forceinline__ uint32_t sum_before(uint32_t value, uint32_t* sums, uint32_t* all) {
  uint32_t sum = value;
#pragma unroll
  for (uint32_t distance = 1; distance < 32; distance *= 2) {
    const uint32_t other = __shfl_up_sync(kAllLanes, sum, distance);
    sum += lane_id() >= distance ? other : 0;
  }
  if (lane_id() == 31) {
    sums[warp_id()] = sum;
  }
  __syncthreads();
  uint32_t before = 0;
  *all = 0;
  for (uint32_t warp = 0; warp < kScanThreads / 32; warp++) {
    before += warp < warp_id() ? sums[warp] : 0;
    *all += sums[warp];
  }
  __syncthreads();
  return before + sum - value;
}

// Where the pairs and the units of each list begin; by one block, of which each thread has four lists side by side
// at a time. Clears the counts for the next wave. Numbers behind the last list are written, too: there is room.
__device__ __forceinline__ void scan_batch(const ListBatch& batch, uint8_t* shared) {
  const BatchMemory memory(batch);
  const uint4* facts = reinterpret_cast<const uint4*>(batch_lists(batch).facts);
  uint32_t* sums = reinterpret_cast<uint32_t*>(shared);
  uint32_t pairs_before = 0;
  uint32_t units_before = 0;
#pragma unroll 1
  for (uint32_t base = 0; base < batch.lists; base += 4 * kScanThreads) {
    const uint32_t first = base + 4 * threadIdx.x;
    uint4 four = {0, 0, 0, 0};
    if (first < batch.lists) {
      four = *reinterpret_cast<const uint4*>(memory.counts + first);
    }
    uint32_t counts[4] = {four.x, four.y, four.z, four.w};
    uint32_t units[4];
    uint32_t pairs = 0;
    uint32_t all = 0;
#pragma unroll
    for (uint32_t i = 0; i < 4; i++) {
      const bool valid = first + i < batch.lists;
      counts[i] = valid ? counts[i] : 0;
      units[i] = batch_units(counts[i], valid ? __ldg(facts + first + i).x : 0);
      pairs += counts[i];
      all += units[i];
    }
    uint32_t all_pairs;
    uint32_t all_units;
    uint32_t pairs_at = pairs_before + sum_before(pairs, sums, &all_pairs);
    uint32_t units_at = units_before + sum_before(all, sums, &all_units);
    if (first < batch.lists) {
      uint4 starts;
      uint4 begins;
      starts.x = pairs_at;
      starts.y = starts.x + counts[0];
      starts.z = starts.y + counts[1];
      starts.w = starts.z + counts[2];
      begins.x = units_at;
      begins.y = begins.x + units[0];
      begins.z = begins.y + units[1];
      begins.w = begins.z + units[2];
      *reinterpret_cast<uint4*>(memory.starts + first) = starts;
      *reinterpret_cast<uint4*>(memory.cursors + first) = starts;
      *reinterpret_cast<uint4*>(memory.units + first) = begins;
      *reinterpret_cast<uint4*>(memory.counts + first) = {0, 0, 0, 0};
    }
    pairs_before += all_pairs;
    units_before += all_units;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    memory.starts[batch.lists] = pairs_before;
    memory.units[batch.lists] = units_before;
    memory.control->next_unit = 0;
  }
}

// Adds the pairs of an item to the pairs of their lists, with residuals in whole numbers. One warp a pair.
__device__ __forceinline__ void place_pairs(const ListBatch& batch, const BatchMemory& memory,
                                            const Lists& lists, uint32_t item) {
  const BatchItem& known = memory.items[item];
  const uint32_t* order = memory.order + uint64_t{item} * batch.kept;
  const bool pieces = wave_of_pieces(batch);
  const uint32_t pairs = pieces == false                             ? lists_in_wave(batch, known)
                         : pieces_left(lists, known, order[0]) > 0 ? 1
                                                                     : 0;
#pragma unroll 1
  for (uint32_t place = warp_id(); place < pairs; place += kPairThreads / 32) {
    const uint32_t list = order[pieces ? 0 : known.probed + place];
    uint32_t at = 0;
    if (lane_id() == 0) {
      at = atomicAdd(&memory.cursors[list], 1u);
    }
    at = __shfl_sync(kAllLanes, at, 0);
    const float* rotated = memory.rotated + uint64_t{item} * batch.padded;
    const float* centroid =
        reinterpret_cast<const float*>(lists.centroids) + uint64_t{list} * batch.padded;
    float largest = 0;
    float squares = 0;
#pragma unroll 4
    for (uint32_t d = lane_id(); d < batch.padded; d += 32) {
      const float r = rotated[d] - __ldg(centroid + d);
      largest = fmaxf(largest, fabsf(r));
      squares = fmaf(r, r, squares);
    }
    squares = warp_sum(squares);
    largest = warp_max(largest);
    const ListStep step = list_step(largest, kListPlanes);
    uint8_t* numbers = memory.numbers + uint64_t{at} * batch.padded;
    const uint32_t own = number_place(lane_id());
    int32_t sum = 0;
#pragma unroll 4
    for (uint32_t d = lane_id(); d < batch.padded; d += 32) {
      const int32_t number = list_round(rotated[d] - __ldg(centroid + d), step.scale);
      sum += number;
      numbers[d - lane_id() + own] = static_cast<uint8_t>(number);
    }
    sum = static_cast<int32_t>(warp_sum(static_cast<uint32_t>(sum)));
    if (lane_id() == 0) {
      const float norm2 =
          __uint_as_float(__ldg(reinterpret_cast<const uint32_t*>(lists.facts) + 4 * list + 2));
      BatchPair pair;
      pair.heads = {list_base(lists.estimates, squares, known.rotated_norm2, norm2), step.step,
                    static_cast<float>(sum) * 0.5f,
                    list_margin(step.step, squares, batch.padded)};
      pair.limit = known.limit;
      pair.item = item;
      pair.place = place;
      pair.from = pieces ? batch_alone(entries_of(lists, list)) : 0;
      memory.pairs[at] = pair;
    }
  }
}

// The same of all items, a block an item.
__device__ __forceinline__ void place_batch(const ListBatch& batch) {
  const BatchMemory memory(batch);
  const Lists lists = batch_lists(batch);
#pragma unroll 1
  for (uint32_t item = blockIdx.x; item < batch.search.count; item += gridDim.x) {
    place_pairs(batch, memory, lists, item);
  }
}

}  // namespace vamana
