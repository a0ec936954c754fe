#include "host_fetch_host.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "distances.h"
#include "vamana/merge.h"
#include "vamana/order.h"
#include "vamana/table.h"
#include "vamana/visited.h"
#include "visited_host.h"

namespace vamana {

namespace {

constexpr uint32_t kWarps = 4;
constexpr uint32_t kDistanceThreads = 512;

// What belongs to the slot of a block.
struct Slot {
  Slot(const HostFetch& p, uint32_t block)
      : number(reinterpret_cast<const uint32_t*>(p.slots)[block]),
        state(reinterpret_cast<FetchState*>(p.states)[number]),
        table(reinterpret_cast<float*>(p.tables) + uint64_t{number} * p.table_stride),
        list(reinterpret_cast<uint64_t*>(p.lists) + uint64_t{number} * p.list_capacity),
        keys(reinterpret_cast<uint64_t*>(p.keys) + uint64_t{number} * p.fresh_capacity),
        ids(reinterpret_cast<uint32_t*>(p.ids) + uint64_t{number} * p.fresh_capacity),
        visited(reinterpret_cast<uint32_t*>(p.visited) + uint64_t{number} * p.visited_slots),
        row(reinterpret_cast<const uint32_t*>(p.rows) + uint64_t{block} * p.row_stride),
        picks(reinterpret_cast<uint32_t*>(p.picks) + uint64_t{block} * p.parents) {}

  const uint32_t number;
  FetchState& state;
  float* const table;
  uint64_t* const list;
  uint64_t* const keys;
  uint32_t* const ids;
  uint32_t* const visited;
  const uint32_t* const row;
  uint32_t* const picks;
};

void filter(const HostFetch& p, const Slot& slot) {
  FetchState& state = slot.state;
  uint32_t flags = state.flags;
  uint32_t count = 0;
  for (uint32_t from = 0; flags == 0 && from < p.row_stride; from += kVisitedRow) {
    const uint32_t length = std::min(kVisitedRow, p.row_stride - from);
    uint32_t valid[kVisitedRow];
    bool fresh[kVisitedRow];
    for (uint32_t i = 0; i < length; i++) {
      const uint32_t ordinal = slot.row[from + i];
      valid[i] = ordinal < state.size ? ordinal : kUnusedSlot;
      flags |= valid[i] == ordinal ? 0u : kCorrupt;
      fresh[i] = valid[i] != kUnusedSlot;
    }
    if ((p.flags & kNoVisitedFilter) == 0) {
      visited_add(slot.visited, p.visited_slots, valid, length, 4, fresh);
    }
    for (uint32_t i = 0; i < length; i++) {
      if (fresh[i]) {
        slot.ids[count++] = valid[i];
      }
    }
  }
  const uint32_t allowed = state.visit_limit - state.visited;
  if (count > allowed) {
    count = allowed;
    flags |= kStopped;
  }
  count = (flags & kCorrupt) != 0 ? 0 : count;
  state.iterations += state.picked > 0 && (state.flags & kComplete) == 0 ? 1 : 0;
  state.picked = 0;
  state.pick_key = kNoKey;
  state.visited += count;
  state.fresh_count = count;
  state.flags = flags;
}

// Sum of what so many lanes add up, as shuffles do it.
float lanes_sum(const FetchState& state, const float* table, uint32_t ordinal, uint32_t lanes) {
  const uint8_t* code = reinterpret_cast<const uint8_t*>(state.codes) +
                        static_cast<uint64_t>(ordinal) * state.code_stride;
  std::vector<float> sums(lanes);
  for (uint32_t s = 0; s < state.subspaces; s++) {
    sums[s / 4 % lanes] += table[s * kCentroids + code[s]];
  }
  for (uint32_t warp = 0; warp < lanes; warp += 32) {
    for (uint32_t stride = std::min(lanes, 32u) / 2; stride > 0; stride /= 2) {
      for (uint32_t lane = warp; lane < warp + stride; lane++) {
        sums[lane] += sums[lane + stride];
      }
    }
  }
  float sum = 0;
  for (uint32_t warp = 0; warp < lanes; warp += 32) {
    sum += sums[warp];
  }
  return sum;
}

// The order in which atomics add up is anybody's guess.
float distance(Reduction reduction, const FetchState& state, const float* table,
               uint32_t ordinal) {
  switch (reduction) {
    case Reduction::kWarps:
      return lanes_sum(state, table, ordinal, 32);
    case Reduction::kBlocks:
      return lanes_sum(state, table, ordinal, kDistanceThreads);
    default:
      return lanes_sum(state, table, ordinal, kFetchGroup);
  }
}

void distances(Reduction reduction, const Slot& slot) {
  for (uint32_t i = 0; i < slot.state.fresh_count; i++) {
    slot.keys[i] =
        make_key(distance(reduction, slot.state, slot.table, slot.ids[i]), slot.ids[i]);
  }
}

bool has(const uint64_t* list, uint32_t size, uint64_t key) {
  const uint32_t rank = rank_in_list(list, size, key);
  return rank < size && unmarked(list[rank]) == key;
}

uint32_t next_unexpanded(const Slot& slot, uint32_t cursor, uint32_t size) {
  while (cursor < size && is_expanded(slot.list[cursor])) {
    cursor++;
  }
  return cursor;
}

void pick(const HostFetch& p, const Slot& slot) {
  FetchState& state = slot.state;
  const uint64_t worst =
      state.list_size == state.beam ? unmarked(slot.list[state.list_size - 1]) : kNoKey;
  uint64_t* end = std::remove_if(slot.keys, slot.keys + state.fresh_count, [&](uint64_t key) {
    return key >= worst || has(slot.list, state.list_size, key);
  });
  state.fresh_count = static_cast<uint32_t>(end - slot.keys);
  if ((p.flags & kPickMerged) != 0) {
    return;
  }
  uint64_t nearest =
      state.fresh_count == 0 ? kNoKey : *std::min_element(slot.keys, end);
  state.cursor = next_unexpanded(slot, state.cursor, state.list_size);
  if (state.cursor < state.list_size) {
    nearest = std::min(nearest, slot.list[state.cursor]);
  }
  if (state.flags != 0) {
    nearest = kNoKey;
  } else if (nearest == kNoKey) {
    state.flags = kComplete;
  }
  state.pick_key = nearest;
  state.picked = nearest != kNoKey ? 1 : 0;
  slot.picks[0] = nearest != kNoKey ? key_ordinal(nearest) : kUnusedSlot;
}

// Merges sorted keys into a list, of which the nearest `capacity` stay; returns its new size.
uint32_t merge_keys(uint64_t* list, uint32_t size, uint32_t capacity, const uint64_t* keys,
                    uint32_t count, uint32_t* cursor) {
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t rank = rank_in_list(list, size, keys[i]);
    if (rank == capacity || (rank < size && unmarked(list[rank]) == keys[i])) {
      continue;
    }
    size = std::min(size + 1, capacity);
    std::copy_backward(list + rank, list + size - 1, list + size);
    list[rank] = keys[i];
    *cursor = std::min(*cursor, rank);
  }
  return size;
}

void merge(const HostFetch& p, const Slot& slot) {
  FetchState& state = slot.state;
  state.list_size = merge_keys(slot.list, state.list_size, state.beam, slot.keys,
                               state.fresh_count, &state.cursor);
  if ((p.flags & kPickMerged) == 0) {
    if (state.pick_key != kNoKey) {
      const uint32_t rank = rank_in_list(slot.list, state.list_size, state.pick_key);
      if (rank < state.list_size && unmarked(slot.list[rank]) == state.pick_key) {
        slot.list[rank] |= kExpanded;
      } else {
        state.flags |= kComplete;
      }
    }
    return;
  }
  state.picked = 0;
  while (state.flags == 0 && state.picked < p.parents) {
    state.cursor = next_unexpanded(slot, state.cursor, state.list_size);
    if (state.cursor == state.list_size) {
      break;
    }
    slot.picks[state.picked++] = key_ordinal(slot.list[state.cursor]);
    slot.list[state.cursor++] |= kExpanded;
  }
  std::fill(slot.picks + state.picked, slot.picks + p.parents, kUnusedSlot);
  if (state.flags == 0 && state.picked == 0) {
    state.flags |= kComplete;
  }
}

// What the kernels take for granted. Returns the first thing that does not hold.
#define REQUIRE(condition)                                \
  do {                                                    \
    if (!(condition)) return "does not hold: " #condition; \
  } while (false)

std::string check(const HostFetch& p) {
  REQUIRE(p.states != 0 && p.states % 8 == 0);
  REQUIRE(p.tables != 0 && p.tables % 16 == 0 && p.table_stride % 4 == 0);
  REQUIRE(p.lists != 0 && p.lists % 8 == 0);
  REQUIRE(p.keys != 0 && p.keys % 8 == 0);
  REQUIRE(p.ids != 0 && p.ids % 4 == 0);
  REQUIRE(p.visited != 0 && p.visited % 16 == 0);
  REQUIRE(p.slots != 0 && p.slots % 4 == 0);
  REQUIRE(p.rows != 0 && p.rows % 16 == 0);
  REQUIRE(p.picks != 0 && p.picks % 4 == 0);
  REQUIRE(p.count >= 1);
  REQUIRE(p.list_capacity >= 1 && p.list_capacity <= kMaxBeamWidth);
  REQUIRE(p.fresh_capacity >= 32 && p.fresh_capacity % 32 == 0);
  REQUIRE(p.visited_slots >= 4 && (p.visited_slots & (p.visited_slots - 1)) == 0);
  REQUIRE(p.row_stride >= 4 && p.row_stride % 4 == 0 && p.row_stride <= p.fresh_capacity);
  REQUIRE(p.parents >= 1 && p.parents <= kMaxParents);
  REQUIRE(p.parents == 1 || (p.flags & kPickMerged) != 0);
  return "";
}

template <typename Stage>
std::string each_slot(const HostFetch& p, Stage stage) {
  const std::string wrong = check(p);
  for (uint32_t block = 0; wrong.empty() && block < p.count; block++) {
    stage(Slot(p, block));
  }
  return wrong;
}

std::string check(const HostFetch& p, const Item& item) {
  const Segment& segment = *reinterpret_cast<const Segment*>(item.segment);
  REQUIRE(item.query != 0 && item.query % 16 == 0);
  REQUIRE(item.beam >= 1 && item.beam <= p.list_capacity);
  REQUIRE(segment.size >= 1);
  REQUIRE(segment.dimension >= 1 && segment.dimension <= kMaxDimension);
  REQUIRE(segment.similarity <= kMaximumInnerProduct);
  REQUIRE(segment.codes != 0 && segment.codes % 16 == 0);
  REQUIRE(segment.columns != 0 && segment.columns % 16 == 0);
  REQUIRE(segment.subspaces >= 1 && segment.subspaces <= segment.dimension);
  REQUIRE(segment.subspaces * kCentroids <= p.table_stride);
  REQUIRE(segment.code_stride % 16 == 0 && segment.code_stride >= segment.subspaces);
  return "";
}

std::string check(const FetchRerank& p, const FetchGroup& group, const Item& item) {
  const Segment& segment = *reinterpret_cast<const Segment*>(item.segment);
  REQUIRE(item.query != 0 && item.query % 16 == 0);
  REQUIRE(item.k >= 1 && item.k <= p.list_capacity);
  REQUIRE(item.capacity >= item.k);
  REQUIRE(item.result != 0 && item.result % 4 == 0);
  REQUIRE(segment.dimension <= p.dimension);
  REQUIRE(group.count == 0 ||
          p.vector_stride >= segment.dimension * (segment.byte_scoring != 0 ? 1 : 4));
  return "";
}

void rerank(const FetchRerank& p, const FetchGroup& group, const Item& item) {
  const Segment& segment = *reinterpret_cast<const Segment*>(item.segment);
  const HostQuery query = query_of(segment, item, kWarps, 1);
  const uint32_t format = segment.byte_scoring != 0 ? kByte : kFloat32;
  const HostRows vectors = {p.vectors, p.vector_stride, segment.dimension, format, 0, true};
  std::vector<uint64_t> keys;
  for (uint32_t i = group.first; i < group.first + group.count; i++) {
    keys.push_back(make_key(exact_distance(segment, vectors, query,
                                           reinterpret_cast<const uint32_t*>(p.rows)[i]),
                            reinterpret_cast<const uint32_t*>(p.ordinals)[i]));
  }
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  Result* result = reinterpret_cast<Result*>(item.result);
  uint32_t* ordinals = reinterpret_cast<uint32_t*>(result + 1);
  float* scores = reinterpret_cast<float*>(ordinals + item.capacity);
  const uint32_t count = std::min<uint32_t>(item.k, static_cast<uint32_t>(keys.size()));
  for (uint32_t i = 0; i < count; i++) {
    ordinals[i] = key_ordinal(keys[i]);
    scores[i] = -key_distance(keys[i]);
  }
  result->count = count;
}

}  // namespace

std::string host_fetch_begin_host(const HostFetch& p) {
  const Item* items = reinterpret_cast<const Item*>(p.items);
  std::string wrong;
  const std::string other = each_slot(p, [&](const Slot& slot) {
    const Item& item = items[slot.number];
    if (wrong.empty()) {
      wrong = check(p, item);
    }
    if (wrong.empty() == false) {
      return;
    }
    const Segment& segment = *reinterpret_cast<const Segment*>(item.segment);
    const HostQuery query = query_of(segment, item, kWarps, 1);
    const std::vector<float> table =
        distance_table(segment, query.floats, query.norm2, false);
    std::copy(table.begin(), table.end(), slot.table);
    std::fill(slot.visited, slot.visited + p.visited_slots, 0u);
    slot.state = {};
    slot.state.segment = item.segment;
    slot.state.codes = segment.codes;
    slot.state.pick_key = kNoKey;
    slot.state.size = segment.size;
    slot.state.code_stride = segment.code_stride;
    slot.state.subspaces = segment.subspaces;
    slot.state.beam = item.beam;
    slot.state.visit_limit = item.visit_limit;
  });
  return other.empty() ? wrong : other;
}

std::string host_fetch_filter_host(const HostFetch& p) {
  return each_slot(p, [&](const Slot& slot) { filter(p, slot); });
}

std::string host_fetch_distance_host(Reduction reduction, const HostFetch& p) {
  return each_slot(p, [&](const Slot& slot) { distances(reduction, slot); });
}

std::string host_fetch_pick_host(const HostFetch& p) {
  return each_slot(p, [&](const Slot& slot) { pick(p, slot); });
}

std::string host_fetch_sort_host(const HostFetch& p) {
  return each_slot(
      p, [](const Slot& slot) { std::sort(slot.keys, slot.keys + slot.state.fresh_count); });
}

std::string host_fetch_merge_host(const HostFetch& p) {
  return each_slot(p, [&](const Slot& slot) { merge(p, slot); });
}

std::string host_fetch_near_host(const HostFetch& p) {
  return each_slot(p, [&](const Slot& slot) {
    filter(p, slot);
    distances(Reduction::kGroups, slot);
    pick(p, slot);
  });
}

std::string host_fetch_update_host(const HostFetch& p) {
  return each_slot(p, [&](const Slot& slot) {
    std::sort(slot.keys, slot.keys + slot.state.fresh_count);
    merge(p, slot);
  });
}

std::string host_fetch_rerank_host(const FetchRerank& p) {
  REQUIRE(p.groups != 0 && p.groups % 4 == 0);
  REQUIRE(p.vectors % 16 == 0 && p.vector_stride % 16 == 0);
  REQUIRE(p.count >= 1);
  const FetchGroup* groups = reinterpret_cast<const FetchGroup*>(p.groups);
  const Item* items = reinterpret_cast<const Item*>(p.items);
  for (uint32_t block = 0; block < p.count; block++) {
    const std::string wrong = check(p, groups[block], items[groups[block].slot]);
    if (wrong.empty() == false) {
      return wrong;
    }
    rerank(p, groups[block], items[groups[block].slot]);
  }
  return "";
}

}  // namespace vamana
