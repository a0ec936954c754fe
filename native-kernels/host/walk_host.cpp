#include "walk_host.h"

#include <algorithm>
#include <vector>

#include "distances.h"
#include "vamana/merge.h"
#include "vamana/order.h"
#include "vamana/visited.h"
#include "visited_host.h"

namespace vamana {

namespace {

// The worklist: nearest first, no key twice.
class Worklist {
 public:
  explicit Worklist(uint32_t capacity) : capacity_(capacity) {}

  void insert(uint64_t key) {
    const uint32_t rank = rank_in_list(keys_.data(), size(), key);
    if (rank < size() && unmarked(keys_[rank]) == key) {
      return;
    }
    if (size() == capacity_) {
      if (rank == size()) {
        return;
      }
      keys_.pop_back();
    }
    keys_.insert(keys_.begin() + rank, key);
    cursor_ = std::min(cursor_, rank);
  }

  // Marks the nearest unexpanded entry; kUnusedSlot if there is none.
  uint32_t expand_next() {
    while (cursor_ < size()) {
      uint64_t& key = keys_[cursor_++];
      if (is_expanded(key) == false) {
        key |= kExpanded;
        return key_ordinal(key);
      }
    }
    return kUnusedSlot;
  }

  uint32_t size() const { return static_cast<uint32_t>(keys_.size()); }

  const std::vector<uint64_t>& keys() const { return keys_; }

 private:
  std::vector<uint64_t> keys_;
  uint32_t capacity_;
  uint32_t cursor_ = 0;
};

class Walker {
 public:
  Walker(uint32_t policy, uint32_t warps, const Walk& walk, const Item& item)
      : policy_(policy),
        walk_(walk),
        item_(item),
        segment_(*reinterpret_cast<const Segment*>(item.segment)),
        query_(query_of(segment_, item, warps, 4)),
        list_(item.beam),
        visit_limit_(item.visit_limit),
        visited_(walk.visited_slots) {
    if (policy > kExactByte) {
      table_ = distance_table(segment_, query_.floats, query_.norm2, policy == kTableHalf);
    } else {
      rows_ = vector_rows(segment_, policy == kExactFloat16 ? kFloat16
                                    : policy == kExactByte  ? kByte
                                                            : kFloat32);
    }
  }

  void run() {
    add_entry_points();
    bool complete = score_fresh();
    while (complete && flags_ == 0 && expand()) {
      iterations_++;
      complete = score_fresh();
    }
    finish(complete ? kComplete : 0u);
  }

 private:
  void add_entry_points() {
    std::vector<uint32_t> ordinals = {segment_.medoid};
    const uint32_t* more = reinterpret_cast<const uint32_t*>(item_.entry_points);
    ordinals.insert(ordinals.end(), more, more + item_.entry_count);
    for (size_t from = 0; from < ordinals.size(); from += 32) {
      add_fresh(ordinals.data() + from, std::min<size_t>(32, ordinals.size() - from), 1);
    }
  }

  // Adds the nodes that were not seen before; they get distances.
  void add_fresh(const uint32_t* ordinals, uint32_t count, uint32_t stride) {
    uint32_t valid[kVisitedRow];
    bool fresh[kVisitedRow];
    for (uint32_t i = 0; i < count; i++) {
      valid[i] = ordinals[i] < segment_.size ? ordinals[i] : kUnusedSlot;
      flags_ |= valid[i] == ordinals[i] ? 0u : kCorrupt;
    }
    visited_add(visited_.data(), walk_.visited_slots, valid, count, stride, fresh);
    for (uint32_t i = 0; i < count; i++) {
      if (fresh[i]) {
        fresh_.push_back(valid[i]);
      }
    }
  }

  // Reads the rows of the next parents; false if no entry is unexpanded.
  bool expand() {
    const uint32_t* graph = reinterpret_cast<const uint32_t*>(segment_.graph);
    uint32_t count = 0;
    for (; count < item_.parents; count++) {
      const uint32_t parent = list_.expand_next();
      if (parent == kUnusedSlot) {
        break;
      }
      remember(parent);
      const uint32_t* row = graph + static_cast<uint64_t>(parent) * segment_.graph_stride;
      add_fresh(row, segment_.graph_stride, 4);
    }
    return count > 0;
  }

  void remember(uint32_t parent) {
    if (item_.rerank >= 0 || walk_.expanded_capacity == 0) {
      return;
    }
    if (expanded_.size() < walk_.expanded_capacity) {
      expanded_.push_back(parent);
    } else {
      flags_ |= kOverflow;
    }
  }

  // False if the visit limit ends the walk.
  bool score_fresh() {
    const size_t allowed = std::min<size_t>(fresh_.size(), visit_limit_ - visited_count_);
    const bool complete = allowed == fresh_.size();
    for (size_t i = 0; i < allowed; i++) {
      list_.insert(make_key(distance(fresh_[i]), fresh_[i]));
    }
    visited_count_ += static_cast<uint32_t>(allowed);
    fresh_.clear();
    return complete;
  }

  float distance(uint32_t ordinal) const {
    if (policy_ <= kExactByte) {
      return exact_distance(segment_, rows_, query_, ordinal);
    }
    const uint8_t* code = reinterpret_cast<const uint8_t*>(segment_.codes) +
                          static_cast<uint64_t>(ordinal) * segment_.code_stride;
    return code_sum(table_.data(), code, segment_.subspaces);
  }

  bool accepts(uint32_t ordinal) const {
    const uint64_t* words = reinterpret_cast<const uint64_t*>(item_.accepted);
    return words == nullptr || (words[ordinal >> 6] >> (ordinal & 63u) & 1u) != 0;
  }

  void finish(uint32_t flags) {
    flags |= flags_;
    const bool exact_keys =
        policy_ == kExactFloat32 ||
        (policy_ == kExactByte && (segment_.byte_scoring != 0 || query_.whole));
    std::vector<uint64_t> hits;
    if (flags_ == 0) {
      if (exact_keys) {
        hits = accepted_keys(item_.k);
      } else if (segment_.raw == 0) {
        flags |= kApproximate;
        hits = accepted_keys(item_.capacity);
      } else {
        hits = reranked();
      }
    }
    write(flags, hits);
  }

  std::vector<uint64_t> accepted_keys(uint32_t most) const {
    std::vector<uint64_t> keys;
    for (size_t i = 0; i < list_.keys().size() && keys.size() < most; i++) {
      if (accepts(key_ordinal(list_.keys()[i]))) {
        keys.push_back(list_.keys()[i]);
      }
    }
    return keys;
  }

  std::vector<uint64_t> reranked() const {
    std::vector<uint32_t> candidates;
    if (item_.rerank < 0) {
      std::copy_if(expanded_.begin(), expanded_.end(), std::back_inserter(candidates),
                   [this](uint32_t ordinal) { return accepts(ordinal); });
    } else {
      for (uint64_t key : accepted_keys(static_cast<uint32_t>(item_.rerank))) {
        candidates.push_back(key_ordinal(key));
      }
    }
    Worklist best(item_.k);
    const HostRows rows = raw_rows(segment_);
    for (uint32_t ordinal : candidates) {
      best.insert(make_key(exact_distance(segment_, rows, query_, ordinal), ordinal));
    }
    return best.keys();
  }

  void write(uint32_t flags, const std::vector<uint64_t>& hits) const {
    Result* result = reinterpret_cast<Result*>(item_.result);
    uint32_t* ordinals = reinterpret_cast<uint32_t*>(result + 1);
    float* scores = reinterpret_cast<float*>(ordinals + item_.capacity);
    const uint32_t count = std::min<uint32_t>(static_cast<uint32_t>(hits.size()), item_.capacity);
    for (uint32_t i = 0; i < count; i++) {
      ordinals[i] = key_ordinal(hits[i]);
      scores[i] = -key_distance(hits[i]);
    }
    result->visited = visited_count_;
    result->iterations = iterations_;
    result->flags = flags;
    // last, for callers that read results while the launch goes on
    __atomic_store_n(&result->count, count, __ATOMIC_RELEASE);
  }

  const uint32_t policy_;
  const Walk& walk_;
  const Item& item_;
  const Segment& segment_;
  const HostQuery query_;
  HostRows rows_ = {};
  std::vector<float> table_;
  Worklist list_;
  const uint32_t visit_limit_;
  std::vector<uint32_t> visited_;
  std::vector<uint32_t> fresh_;
  std::vector<uint32_t> expanded_;
  uint32_t visited_count_ = 0;
  uint32_t iterations_ = 0;
  uint32_t flags_ = 0;
};

// Checks a precondition of the kernel. Returns from the function with the first that does not hold.
#define REQUIRE(condition)                                \
  do {                                                    \
    if (!(condition)) return "does not hold: " #condition; \
  } while (false)

std::string check(uint32_t policy, const Walk& walk, const Item& item, const Segment& segment) {
  REQUIRE(item.query != 0 && item.query % 16 == 0);
  REQUIRE(item.accepted % 8 == 0);
  REQUIRE(item.entry_count == 0 || item.entry_points != 0);
  REQUIRE(item.result != 0 && item.result % 4 == 0);
  REQUIRE(item.k >= 1);
  REQUIRE(item.beam >= 1 && item.beam <= walk.list_capacity && item.beam <= kMaxBeamWidth);
  REQUIRE(item.parents >= 1 && item.parents <= kMaxParents);
  REQUIRE(item.rerank == -1 || item.rerank >= 1);
  REQUIRE(item.capacity >= 1);
  REQUIRE(segment.size >= 1 && segment.medoid < segment.size);
  REQUIRE(segment.dimension >= 1 && segment.dimension <= kMaxDimension);
  REQUIRE(segment.dimension <= walk.dimension);
  REQUIRE(segment.graph != 0 && segment.graph % 16 == 0);
  REQUIRE(segment.graph_stride % 4 == 0 && segment.graph_stride <= kMaxDegree);
  REQUIRE(segment.graph_stride * item.parents <= walk.fresh_capacity);
  REQUIRE(item.entry_count + 1 <= walk.fresh_capacity);
  REQUIRE(segment.similarity <= kMaximumInnerProduct);
  REQUIRE(segment.raw == 0 || segment.raw_format == kFloat32 || segment.raw_format == kByte);
  REQUIRE(segment.raw == 0 || segment.raw_stride >=
                                  segment.dimension * (segment.raw_format == kByte ? 1 : 4));
  if (policy > kExactByte) {
    REQUIRE(segment.codes != 0 && segment.codes % 16 == 0);
    REQUIRE(segment.columns != 0 && segment.columns % 16 == 0);
    REQUIRE(segment.subspaces >= 1 && segment.subspaces <= segment.dimension);
    REQUIRE(segment.subspaces <= walk.subspaces && walk.subspaces <= kMaxSubspaces);
    REQUIRE(segment.code_stride % 16 == 0 && segment.code_stride >= segment.subspaces);
    REQUIRE(policy != kTableHalf || segment.centroid_norms != 0);
  } else {
    const uint32_t component = policy == kExactFloat32 ? 4 : policy == kExactFloat16 ? 2 : 1;
    REQUIRE(segment.vectors != 0 && segment.vectors % 16 == 0);
    REQUIRE(segment.vector_format == policy);
    REQUIRE(segment.vector_stride % 16 == 0);
    REQUIRE(segment.vector_stride >= segment.dimension * component);
    if (policy == kExactByte) {
      // bytes of a segment, or copies of its floats
      REQUIRE((segment.byte_scoring != 0) == (segment.vector_facts == 0));
      REQUIRE((segment.vector_facts != 0) == (segment.vector_center != 0));
      REQUIRE(segment.vector_facts % 8 == 0 && segment.vector_center % 4 == 0);
      REQUIRE(segment.whole_copies == 0 ||
              (segment.vector_facts != 0 && segment.similarity == kEuclidean &&
               segment.dimension <= kWholeDimension));
    }
  }
  return "";
}

const Item& item_of(const Walk& walk, uint32_t i) {
  return *reinterpret_cast<const Item*>((walk.flags & kSideBySide) != 0
                                            ? walk.items + i * sizeof(Item)
                                            : reinterpret_cast<const uint64_t*>(walk.items)[i]);
}

std::string check(uint32_t policy, const Walk& walk) {
  REQUIRE(walk.items != 0 && walk.items % 8 == 0);
  REQUIRE(walk.counter != 0 && walk.counter % 4 == 0);
  REQUIRE(*reinterpret_cast<const uint32_t*>(walk.counter) == 0);
  REQUIRE(walk.list_capacity >= 1);
  REQUIRE(walk.fresh_capacity >= 32 && walk.fresh_capacity % 32 == 0);
  REQUIRE(walk.visited_slots >= 4 && (walk.visited_slots & (walk.visited_slots - 1)) == 0);
  REQUIRE((policy != kTableFloatGlobal && walk.expanded_capacity == 0) || walk.scratch != 0);
  for (uint32_t i = 0; i < walk.count; i++) {
    const Item& item = item_of(walk, i);
    REQUIRE(item.visit_limit == kUnlimited || (walk.flags & kLimited) != 0);
    std::string wrong =
        check(policy, walk, item, *reinterpret_cast<const Segment*>(item.segment));
    if (wrong.empty() == false) {
      return "item " + std::to_string(i) + ": " + wrong;
    }
  }
  return "";
}

}  // namespace

std::string walk_host(uint32_t policy, uint32_t warps, const Walk& walk) {
  const std::string wrong = check(policy, walk);
  if (wrong.empty()) {
    for (uint32_t i = 0; i < walk.count; i++) {
      Walker(policy, warps, walk, item_of(walk, i)).run();
    }
    *reinterpret_cast<uint32_t*>(walk.counter) = walk.count + 1;
  }
  return wrong;
}

}  // namespace vamana
