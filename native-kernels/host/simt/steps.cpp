// Parts of a walk's step by all warps of a block, as the device's compiler sees them, for simulated threads.
#include <string>

#include "simt.h"

#include "../export.h"
#include "counting.cuh"
#include "fibers.h"
#include "sort.cuh"
#include "visited.cuh"

namespace {

using namespace vamana;

thread_local std::string last_error;

// Words of places that are taken.
constexpr uint32_t kTaken = 16;

// The list and the new keys lie in shared memory, as in a walk. Each thread has the list's size to itself.
template <int WARPS>
void merge(uint64_t* list, uint32_t* size, uint32_t capacity, const uint64_t* keys, uint32_t count) {
  constexpr uint32_t kThreads = WARPS * 32;
  uint64_t* entries = reinterpret_cast<uint64_t*>(block_memory());
  uint64_t* added = entries + capacity;
  uint32_t* words = reinterpret_cast<uint32_t*>(added + count);
  Worklist worklist = {entries, *size, 0};
  for (uint32_t i = threadIdx.x; i < worklist.size; i += kThreads) {
    entries[i] = list[i];
  }
  for (uint32_t i = threadIdx.x; i < count; i += kThreads) {
    added[i] = keys[i];
  }
  if (threadIdx.x < 1 + kTaken) {
    words[threadIdx.x] = 0;
  }
  __syncthreads();
  merge_together<WARPS>(worklist, capacity, added, words + 1 + kTaken, count, words, words + 1);
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < worklist.size; i += kThreads) {
    list[i] = entries[i];
  }
  if (threadIdx.x == 0) {
    *size = worklist.size;
  }
}

// Each warp has a row of 64 nodes.
void visit(uint32_t* slots, uint32_t slot_count, const uint32_t* ordinals, uint32_t* fresh) {
  const uint32_t* row = ordinals + threadIdx.x * 2;
  const uint32_t own[2] = {row[0], row[1]};
  fresh[threadIdx.x] = visited_add_among_others<2>(slots, slot_count, own, 3);
}

void sort(uint64_t* keys, uint32_t count) {
  uint64_t* own = reinterpret_cast<uint64_t*>(block_memory());
  for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
    own[i] = keys[i];
  }
  __syncthreads();
  sort_keys<8>(own, count);
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
    keys[i] = own[i];
  }
}

}  // namespace

// Sorts keys as a block of eight warps does. Returns what vamana_simt_merge does.
VAMANA_EXPORT const char* vamana_simt_sort(uint64_t* keys, uint32_t count, uint64_t seed) {
  const uint32_t bytes = count * static_cast<uint32_t>(sizeof(uint64_t));
  last_error = simt::launch([&] { sort(keys, count); }, {1, 8, bytes, seed, false});
  return last_error.empty() ? nullptr : last_error.c_str();
}

// Merges new keys, in any order, into the nearest `capacity` entries of a list, as a block of 8 or 16 warps does. The
// seed decides which threads run first. *size is the list's size, before and after. Returns why it failed, valid until
// the thread's next call, or null.
VAMANA_EXPORT const char* vamana_simt_merge(uint64_t* list, uint32_t* size, uint32_t capacity, const uint64_t* keys,
                                            uint32_t count, uint32_t warps, uint64_t seed) {
  const size_t bytes = (capacity + count) * sizeof(uint64_t) + (1 + kTaken + count) * sizeof(uint32_t);
  const simt::Grid grid = {1, warps, static_cast<uint32_t>(bytes), seed, false};
  const auto body = [&] {
    if (warps == 8) {
      merge<8>(list, size, capacity, keys, count);
    } else {
      merge<16>(list, size, capacity, keys, count);
    }
  };
  last_error = warps == 8 || warps == 16 ? simt::launch(body, grid) : "warps must be 8 or 16";
  return last_error.empty() ? nullptr : last_error.c_str();
}

// Several warps add rows of 64 nodes to a visited set, as they do when they expand several parents at once. fresh[i] has
// bits for the nodes at 2i and 2i + 1 that were not there. Returns what vamana_simt_merge does.
VAMANA_EXPORT const char* vamana_simt_visit(uint32_t* slots, uint32_t slot_count, const uint32_t* ordinals,
                                            uint32_t* fresh, uint32_t warps, uint64_t seed) {
  last_error = simt::launch([&] { visit(slots, slot_count, ordinals, fresh); }, {1, warps, 16, seed, false});
  return last_error.empty() ? nullptr : last_error.c_str();
}
