// The arithmetic of the stages of a walk, one function a stage, for tests that compare it with Java.
#include <algorithm>
#include <cstring>
#include <vector>

#include "distances.h"
#include "export.h"
#include "half.h"
#include "vamana/bitonic.h"
#include "vamana/bytes.h"
#include "vamana/convert.h"
#include "vamana/counting.h"
#include "vamana/merge.h"
#include "vamana/order.h"
#include "vamana/score.h"
#include "vamana/shared_layout.h"
#include "vamana/table.h"
#include "vamana/visited.h"
#include "visited_host.h"

using namespace vamana;

VAMANA_EXPORT uint64_t vamana_make_key(float distance, uint32_t ordinal) {
  return make_key(distance, ordinal);
}

VAMANA_EXPORT uint32_t vamana_key_ordinal(uint64_t key) { return key_ordinal(key); }

VAMANA_EXPORT float vamana_key_distance(uint64_t key) { return key_distance(key); }

VAMANA_EXPORT uint32_t vamana_visited_bucket(uint32_t ordinal, uint32_t slots) {
  return visited_bucket(ordinal, slots);
}

// Adds nodes to a visited set, a row of up to 128 at a time, and marks the new ones.
VAMANA_EXPORT void vamana_visit(uint32_t* slots, uint32_t slot_count, const uint32_t* ordinals,
                                uint32_t count, uint8_t* added) {
  for (uint32_t from = 0; from < count; from += kVisitedRow) {
    const uint32_t length = count - from < kVisitedRow ? count - from : kVisitedRow;
    bool fresh[kVisitedRow];
    visited_add(slots, slot_count, ordinals + from, length, 4, fresh);
    for (uint32_t i = 0; i < length; i++) {
      added[from + i] = fresh[i];
    }
  }
}

// The step of a query whose largest component this is.
VAMANA_EXPORT float vamana_query_step(float largest) { return query_step(largest); }

// A component of a query as its bytes represent it.
VAMANA_EXPORT float vamana_query_component(float component, float step) {
  const int32_t steps = query_steps(component, step);
  return step * static_cast<float>(256 * static_cast<int8_t>(high_byte(steps)) +
                                   static_cast<int8_t>(low_byte(steps)));
}

VAMANA_EXPORT uint32_t vamana_to_half(float value) { return to_half(value); }

VAMANA_EXPORT float vamana_half_value(uint32_t half) {
  return half_value(static_cast<uint16_t>(half));
}

VAMANA_EXPORT float vamana_fixed_scale(float range) { return fixed_scale(range); }

VAMANA_EXPORT uint32_t vamana_subspace_offset(uint32_t dimension, uint32_t subspaces,
                                              uint32_t subspace) {
  return subspace_offset(dimension, subspaces, subspace);
}

// Score of two vectors of floats.
VAMANA_EXPORT float vamana_score(uint32_t similarity, uint32_t dimension, const float* query,
                                 const float* vector) {
  Sums sums = {0, 0};
  float norm2 = 0;
  for (uint32_t d = 0; d < dimension; d++) {
    accumulate(sums, similarity == kEuclidean, query[d], vector[d]);
    norm2 = fmaf(query[d], query[d], norm2);
  }
  return score_of(similarity, sums, norm2);
}

// Score of two vectors of bytes.
VAMANA_EXPORT float vamana_byte_score(uint32_t similarity, uint32_t dimension, const int8_t* query,
                                      const int8_t* vector) {
  int32_t product = 0;
  int32_t norm2 = 0;
  int32_t query_norm2 = 0;
  for (uint32_t d = 0; d < dimension; d++) {
    product += query[d] * vector[d];
    norm2 += vector[d] * vector[d];
    query_norm2 += query[d] * query[d];
  }
  return byte_score(similarity, dimension, product, norm2, query_norm2);
}

// The distance table of a query; norms may be null unless entries have 16 bits.
VAMANA_EXPORT void vamana_table(uint32_t similarity, uint32_t dimension, uint32_t subspaces,
                                const float* columns, const float* norms, const float* query,
                                uint32_t fixed, float* table) {
  Segment segment = {};
  segment.similarity = similarity;
  segment.dimension = dimension;
  segment.subspaces = subspaces;
  segment.columns = reinterpret_cast<uint64_t>(columns);
  segment.centroid_norms = reinterpret_cast<uint64_t>(norms);
  std::vector<float> own(query, query + dimension);
  const std::vector<float> entries =
      distance_table(segment, own, query_norm2(own, 1), fixed != 0);
  std::memcpy(table, entries.data(), entries.size() * sizeof(float));
}

VAMANA_EXPORT float vamana_code_sum(const float* table, const uint8_t* code, uint32_t subspaces) {
  return code_sum(table, code, subspaces);
}

// Sorts up to 128 keys as lanes of a warp do in registers (src/sort.cuh).
VAMANA_EXPORT void vamana_sort_in_registers(uint64_t* keys, uint32_t count) {
  const uint32_t padded = count <= 32 ? 32 : count <= 64 ? 64 : 128;
  std::vector<uint64_t> own(padded, kNoKey);
  std::memcpy(own.data(), keys, count * sizeof(uint64_t));
  for (uint32_t run = 2; run <= padded; run <<= 1) {
    for (uint32_t stride = run >> 1; stride > 0; stride >>= 1) {
      const std::vector<uint64_t> before = own;
      for (uint32_t e = 0; e < padded; e++) {
        const uint64_t other = before[e ^ stride];
        own[e] = (other < before[e]) == keeps_smaller(e, run, stride) ? other : before[e];
      }
    }
  }
  std::memcpy(keys, own.data(), count * sizeof(uint64_t));
}

// Sorts keys as a block does in shared memory (src/sort.cuh).
VAMANA_EXPORT void vamana_sort_in_shared(uint64_t* keys, uint32_t count) {
  uint32_t padded = 2;
  while (padded < count) {
    padded <<= 1;
  }
  for (uint32_t run = 2; run <= padded; run <<= 1) {
    for (uint32_t stride = run >> 1; stride > 0; stride >>= 1) {
      for (uint32_t p = 0; p < padded / 2; p++) {
        uint32_t low;
        uint32_t high;
        ascending_pair(p, run, stride, &low, &high);
        if (high < count && keys[high] < keys[low]) {
          std::swap(keys[low], keys[high]);
        }
      }
    }
  }
}

// As vamana_merge, for keys in any order; changes them.
VAMANA_EXPORT uint32_t vamana_merge_by_counting(uint64_t* list, uint32_t size, uint32_t capacity,
                                                uint64_t* keys, uint32_t count) {
  uint32_t left = count;
  while (true) {
    std::vector<uint64_t> merged(size + count, kNoKey);
    std::vector<uint32_t> repeated;
    for (uint32_t e = 0; e < size + count; e++) {
      const uint64_t own = e < size ? list[e] : keys[e - size];
      if (own == kNoKey) {
        continue;
      }
      const uint32_t listed = e < size ? e : count_keys(list, size, own);
      const uint32_t found = count_keys(keys, count, own);
      if (e >= size && (found_same(listed) > 0 || is_again(keys, e - size))) {
        repeated.push_back(e - size);
      } else {
        merged[found_before(listed + found)] = own;
      }
    }
    if (repeated.empty()) {
      const uint32_t kept = size + left < capacity ? size + left : capacity;
      std::copy_n(merged.begin(), kept, list);
      return kept;
    }
    left -= static_cast<uint32_t>(repeated.size());
    for (uint32_t index : repeated) {
      keys[index] = kNoKey;
    }
  }
}

// Merges sorted new keys into a list with room for `capacity`, as a block does (src/worklist.cuh):
// drops repeated keys and keys that the list has, then moves every key to the sum of its ranks in both
// sequences. Returns the list's new size.
VAMANA_EXPORT uint32_t vamana_merge(uint64_t* list, uint32_t size, uint32_t capacity,
                                    const uint64_t* keys, uint32_t count) {
  std::vector<uint64_t> left;
  std::vector<uint32_t> ranks;
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t rank = rank_in_list(list, size, keys[i]);
    const bool repeated = i > 0 && keys[i] == keys[i - 1];
    if (!repeated && (rank == size || unmarked(list[rank]) != keys[i])) {
      left.push_back(keys[i]);
      ranks.push_back(rank);
    }
  }
  const uint32_t added = static_cast<uint32_t>(left.size());
  for (uint32_t i = size; i-- > 0;) {
    const uint32_t place = i + shift_of(ranks.data(), added, i);
    if (place < capacity) {
      list[place] = list[i];
    }
  }
  for (uint32_t j = 0; j < added; j++) {
    if (ranks[j] + j < capacity) {
      list[ranks[j] + j] = left[j];
    }
  }
  return size + added < capacity ? size + added : capacity;
}

// Offsets of list, keys, ids, visited set, query and table in shared memory, and all its bytes.
VAMANA_EXPORT void vamana_shared_layout(uint32_t policy, const Walk* walk, uint32_t* offsets) {
  const SharedLayout layout = shared_layout(policy, *walk);
  const uint32_t all[] = {layout.list,  layout.keys,  layout.ids,  layout.visited,
                          layout.query, layout.table, layout.bytes};
  std::memcpy(offsets, all, sizeof all);
}

VAMANA_EXPORT uint64_t vamana_scratch_bytes(uint32_t policy, const Walk* walk) {
  return scratch_bytes(policy, *walk);
}
