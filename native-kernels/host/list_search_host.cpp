#include "list_search_host.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "distances.h"
#include "vamana/list_layout.h"
#include "vamana/merge.h"
#include "vamana/visited.h"

namespace vamana {

namespace {

// dev.vamana.ivf.Rotation.apply.
void rotate(const Lists& lists, std::vector<float>& x) {
  const float* signs = reinterpret_cast<const float*>(lists.signs);
  for (uint32_t round = 0; round < lists.rounds; round++) {
    for (uint32_t d = 0; d < lists.padded; d++) {
      x[d] *= signs[round * lists.padded + d];
    }
    float* part = x.data() + (round % 2 == 0 ? 0 : lists.padded - lists.transformed);
    for (uint32_t half = 1; half < lists.transformed; half *= 2) {
      for (uint32_t i = 0; i < lists.transformed; i++) {
        if ((i & half) == 0) {
          const float a = part[i];
          part[i] = a + part[i + half];
          part[i + half] = a - part[i + half];
        }
      }
    }
    if (lists.transformed != lists.padded) {
      for (uint32_t d = 0; d < lists.padded / 2; d++) {
        const float a = x[d];
        const float b = x[d + lists.padded / 2];
        x[d] = (a + b) * 0.70710678118f;
        x[d + lists.padded / 2] = (a - b) * 0.70710678118f;
      }
    }
  }
}

// A residual in whole numbers.
struct Numbers {
  ListStep step;
  std::vector<int32_t> numbers;
  int32_t sum = 0;

  Numbers(const std::vector<float>& residual, float largest, uint32_t planes)
      : step(list_step(largest, planes)) {
    for (float component : residual) {
      numbers.push_back(list_round(component, step.scale));
      sum += numbers.back();
    }
  }

  // Inner product with the bits of 32 components.
  int32_t product(uint32_t word, uint32_t code) const {
    int32_t product = 0;
    for (uint32_t d = 0; d < 32; d++) {
      product += (code >> d & 1u) != 0 ? numbers[word * 32 + d] : 0;
    }
    return product;
  }
};

struct Candidate {
  uint64_t key;  // estimate, number in the list
  float bound;
};

class Searcher {
 public:
  Searcher(const Item& item, uint32_t codes)
      : item_(item),
        codes_(codes),
        segment_(*reinterpret_cast<const Segment*>(item.segment)),
        lists_(*reinterpret_cast<const Lists*>(item.segment + kListsOffset)),
        query_(query_of(segment_, item, 4, 1)) {}

  void run() {
    order();
    while (goes_on()) {
      search(order_[history_.size() - 1]);
    }
    write();
  }

 private:
  void order() {
    rotated_ = query_.floats;
    if (lists_.estimates == kEstimateCosine && query_.norm2 > 0) {
      const float scale = 1 / std::sqrt(query_.norm2);
      std::transform(rotated_.begin(), rotated_.end(), rotated_.begin(),
                     [scale](float component) { return scale * component; });
    }
    rotated_.resize(lists_.padded);
    if (codes_ == kListBits) {
      rotate(lists_, rotated_);
    } else {
      table_ = table_of(segment_, false, rotated_, codes_ == kListTable);
      entries_ = codes_ == kListTable
                     ? list_table(table_.scale, table_.smallest, segment_.subspaces)
                     : whole_table();
    }
    norm2_ = query_norm2(rotated_, 4);
    const HostRows rows = {lists_.centroids, lists_.padded * 4, lists_.padded, kFloat32, 0, true};
    const ListFacts* facts = reinterpret_cast<const ListFacts*>(lists_.facts);
    std::vector<uint64_t> keys;
    for (uint32_t list = 0; list < lists_.lists; list++) {
      const float squares = float_sums(rows, true, rotated_.data(), list).first;
      const uint64_t key = list_key(lists_, facts[list], squares, norm2_);
      keys.push_back(key << 32 | list);
    }
    std::sort(keys.begin(), keys.end());
    for (uint64_t key : keys) {
      if (key >> 32 != kUnusedSlot) {
        order_.push_back(static_cast<uint32_t>(key));
      }
    }
  }

  bool goes_on() {
    const uint32_t probed = static_cast<uint32_t>(history_.size());
    if (probed == order_.size() || visited_ >= item_.visit_limit || flags_ != 0) {
      return false;
    }
    if (limit_ < infinite() && probed >= kListProbes &&
        list_ends(probed, all_hits_ - history_[list_window(probed)], item_.beam)) {
      return false;
    }
    history_.push_back(all_hits_);
    return true;
  }

  void search(uint32_t list) {
    const ListFacts& facts = reinterpret_cast<const ListFacts*>(lists_.facts)[list];
    const float* centroid = reinterpret_cast<const float*>(lists_.centroids) +
                            static_cast<uint64_t>(list) * lists_.padded;
    std::vector<float> residual(lists_.padded);
    float largest = 0;
    for (uint32_t d = 0; d < lists_.padded; d++) {
      residual[d] = rotated_[d] - centroid[d];
      largest = std::fmax(largest, std::fabs(residual[d]));
    }
    const float squares = query_norm2(residual, 4);
    const Numbers first(residual, largest, kListPlanes);
    const Numbers more(residual, largest, kListMorePlanes);
    const float margin = codes_ == kListBits
                             ? list_margin(first.step.step, squares, lists_.padded)
                             : lists_.quantile * std::sqrt(squares);
    const ListHeads heads = {list_base(lists_.estimates, squares, norm2_, facts.norm2),
                             first.step.step, static_cast<float>(first.sum) * 0.5f, margin};
    const auto scan = [&](uint32_t from, uint32_t to) {
      std::vector<Candidate> candidates;
      for (uint32_t i = from; i < to; i++) {
        estimate(list, facts.count, i, heads, first, more, std::sqrt(squares), candidates);
      }
      return candidates;
    };
    std::vector<Candidate> candidates = scan(0, facts.count);
    if (candidates.size() <= kListCandidates) {
      score(list, facts.count, candidates);
      return;
    }
    for (uint32_t from = 0; from < facts.count; from += kListCandidates) {
      candidates = scan(from, std::min(from + kListCandidates, facts.count));
      score(list, facts.count, candidates);
    }
  }

  ListColumns columns(uint32_t list, uint32_t count, uint32_t i) const {
    return list_columns(lists_, list_address(lists_, list), list_places(count),
                        i / kListBlock * kListBlock);
  }

  uint32_t ordinal(uint32_t list, uint32_t count, uint32_t i) const {
    return columns(list, count, i).numbers[i % kListBlock];
  }

  void estimate(uint32_t list, uint32_t count, uint32_t i, const ListHeads& heads,
                const Numbers& first, const Numbers& more, float length,
                std::vector<Candidate>& candidates) {
    const ListColumns block = columns(list, count, i);
    const uint32_t at = i % kListBlock;
    const float* numbers = reinterpret_cast<const float*>(block.numbers) + at;
    const uint32_t words = lists_.padded / 32;
    const auto head = [&](uint32_t word) {
      return block.words[2 * (word / 2 * block.together + at) + word % 2];
    };
    const float constant = numbers[block.together];
    const float factor = numbers[2 * block.together];
    const float error = numbers[3 * block.together];
    ListEstimate found;
    if (codes_ == kListBits) {
      int32_t product = 0;
      for (uint32_t word = 0; word < words; word++) {
        product += first.product(word, head(word));
      }
      found = list_estimate(heads, product, constant, factor, error);
    } else {
      found = list_quantized(heads, entries_, code_sum(head), constant, factor, error);
    }
    if (!(found.bound <= limit_)) {
      return;
    }
    const uint32_t own = ordinal(list, count, i);
    if (own >= segment_.size ||
        reinterpret_cast<const uint16_t*>(lists_.numbers)[own] != list ||
        (i > 0 && ordinal(list, count, i - 1) >= own)) {
      flags_ = kCorrupt;
      return;
    }
    const uint64_t* accepted = reinterpret_cast<const uint64_t*>(item_.accepted);
    if (accepted != nullptr && (accepted[own >> 6] >> (own & 63u) & 1u) == 0) {
      return;
    }
    if (codes_ == kListBits && lists_.bits > 1) {
      const uint32_t* tail = reinterpret_cast<const uint32_t*>(
          list_address(lists_, list) + uint64_t{list_places(count)} * lists_.head_bytes +
          uint64_t{i} * lists_.tail_bytes);
      int32_t sum = 0;
      int32_t signs = 0;
      for (uint32_t word = 0; word < words; word++) {
        signs += more.product(word, head(word));
        for (uint32_t plane = 0; plane < lists_.bits - 1; plane++) {
          sum += more.product(word, tail[4 + plane * words + word]) * (1 << plane);
        }
      }
      sum -= (more.sum - signs) * (1 << (lists_.bits - 1));
      const float* factors = reinterpret_cast<const float*>(tail);
      found = list_refined(heads.base, more.step.step, more.sum, length, lists_.padded,
                           lists_.bits, sum, factors[1], factors[2], factors[3]);
      if (!(found.bound <= limit_)) {
        return;
      }
    }
    candidates.push_back({uint64_t{sortable(found.distance)} << 32 | i, found.bound});
  }

  // Sum of the table's entries that a code names: for each 64-bit word by two sums.
  template <class Head>
  float code_sum(Head head) const {
    float sum = 0;
    for (uint32_t from = 0; from < segment_.subspaces; from += 8) {
      const bool whole = segment_.subspaces - from >= 8;
      float sums[2] = {0, 0};
      for (uint32_t b = 0; b < 8 && from + b < segment_.subspaces; b++) {
        const uint32_t centroid = head(from / 4 + b / 4) >> (b % 4 * 8) & 0xFFu;
        sums[whole ? b % 2 : 0] += table_.entries[(from + b) * kCentroids + centroid];
      }
      sum += sums[0] + sums[1];
    }
    return sum;
  }

  void score(uint32_t list, uint32_t count, std::vector<Candidate>& candidates) {
    std::sort(candidates.begin(), candidates.end(),
              [](const Candidate& a, const Candidate& b) { return a.key < b.key; });
    const HostRows rows = raw_rows(segment_);
    std::vector<uint64_t> keys;
    for (size_t i = 0; i < candidates.size(); i++) {
      if (candidates[i].bound <= limit_ && visited_ + keys.size() < item_.visit_limit) {
        const uint32_t own = ordinal(list, count, static_cast<uint32_t>(candidates[i].key));
        keys.push_back(make_key(exact_distance(segment_, rows, query_, own), own));
      }
      if (keys.size() == kListScored || i + 1 == candidates.size()) {
        keep(keys);
        keys.clear();
      }
    }
  }

  void keep(const std::vector<uint64_t>& keys) {
    for (uint64_t key : keys) {
      const uint32_t rank = rank_in_list(best_.data(), static_cast<uint32_t>(best_.size()), key);
      if (rank < item_.beam) {
        best_.insert(best_.begin() + rank, key);
        best_.resize(std::min<size_t>(best_.size(), item_.beam));
        all_hits_++;
      }
      visited_++;
    }
    if (best_.size() == item_.beam) {
      limit_ = list_distance(lists_.estimates, -key_distance(best_.back()), segment_.dimension);
    }
  }

  void write() const {
    Result* result = reinterpret_cast<Result*>(item_.result);
    uint32_t* ordinals = reinterpret_cast<uint32_t*>(result + 1);
    float* scores = reinterpret_cast<float*>(ordinals + item_.capacity);
    const size_t count =
        flags_ != 0 ? 0 : std::min<size_t>(best_.size(), std::min(item_.k, item_.capacity));
    for (size_t i = 0; i < count; i++) {
      ordinals[i] = key_ordinal(best_[i]);
      scores[i] = -key_distance(best_[i]);
    }
    result->visited = visited_;
    result->iterations = static_cast<uint32_t>(history_.size());
    result->flags = flags_ | (visited_ < item_.visit_limit ? kComplete : 0u);
    result->count = static_cast<uint32_t>(count);
  }

  const Item& item_;
  const uint32_t codes_;
  const Segment& segment_;
  const Lists& lists_;
  const HostQuery query_;
  std::vector<float> rotated_;
  float norm2_ = 0;
  HostTable table_;
  ListTable entries_ = {};
  std::vector<uint32_t> order_;
  std::vector<uint32_t> history_;
  std::vector<uint64_t> best_;
  float limit_ = infinite();
  uint32_t all_hits_ = 0;
  uint32_t visited_ = 0;
  uint32_t flags_ = 0;
};

// Checks a precondition of the kernel. Returns from the function with the first that does not hold.
#define REQUIRE(condition)                                \
  do {                                                    \
    if (!(condition)) return "does not hold: " #condition; \
  } while (false)

// The same of lists whose codes are bits of components.
std::string check_bits(const Lists& lists) {
  REQUIRE(lists.bits >= 1 && lists.bits <= 7);
  REQUIRE(lists.head_bytes == kListNumberBytes + lists.padded / 8);
  REQUIRE(lists.tail_bytes ==
          (lists.bits == 1 ? 0 : kListNumberBytes + (lists.bits - 1) * (lists.padded / 8)));
  REQUIRE(lists.signs != 0 && lists.signs % 4 == 0);
  REQUIRE(lists.rounds >= 1 && lists.transformed <= lists.padded);
  REQUIRE(lists.transformed >= 64 && (lists.transformed & (lists.transformed - 1)) == 0);
  return "";
}

// The same of lists of product quantization codes.
std::string check_quantized(const ListSearch& search, const Segment& segment, const Lists& lists) {
  REQUIRE(lists.bits == kQuantizedBits);
  REQUIRE(segment.subspaces >= 1 && segment.subspaces <= search.subspaces);
  REQUIRE(segment.subspaces <= kMaxSubspaces && segment.subspaces <= segment.dimension);
  REQUIRE(lists.head_bytes == kListNumberBytes + (segment.subspaces + 7) / 8 * 8);
  REQUIRE(lists.tail_bytes == 0);
  REQUIRE(segment.columns != 0 && segment.columns % 16 == 0);
  REQUIRE(segment.centroid_norms != 0 && segment.centroid_norms % 4 == 0);
  REQUIRE(lists.quantile >= 0 && lists.quantile <= 1);
  return "";
}

std::string check(uint32_t format, uint32_t codes, const ListSearch& search, const Item& item) {
  REQUIRE(item.segment != 0 && item.segment % 16 == 0);
  const Segment& segment = *reinterpret_cast<const Segment*>(item.segment);
  const Lists& lists = *reinterpret_cast<const Lists*>(item.segment + kListsOffset);
  REQUIRE(item.query != 0 && item.query % 16 == 0);
  REQUIRE(item.accepted % 8 == 0);
  REQUIRE(item.result != 0 && item.result % 4 == 0);
  REQUIRE(item.k >= 1 && item.capacity >= 1);
  REQUIRE(item.beam >= 1 && item.beam <= search.width && item.beam <= kMaxBeamWidth);
  REQUIRE(segment.size >= 1 && segment.dimension <= search.dimension);
  REQUIRE(segment.similarity <= kMaximumInnerProduct);
  REQUIRE(segment.raw != 0 && segment.raw_format == format);
  REQUIRE((segment.byte_scoring != 0) == (format == kByte));
  REQUIRE(segment.raw_stride >= segment.dimension * (format == kByte ? 1 : 4));
  REQUIRE(lists.centroids != 0 && lists.centroids % 16 == 0);
  REQUIRE(lists.facts != 0 && lists.facts % 16 == 0);
  REQUIRE(lists.starts != 0 && lists.starts % 4 == 0);
  REQUIRE(lists.numbers != 0 && lists.numbers % 2 == 0);
  REQUIRE(lists.entries != 0 && lists.entries % 8 == 0);
  REQUIRE(lists.lists >= 1 && lists.lists <= search.lists && lists.lists <= kMaxLists);
  REQUIRE(lists.padded % 64 == 0 && lists.padded <= search.padded);
  REQUIRE(lists.padded >= segment.dimension && lists.padded <= kMaxDimension);
  REQUIRE(lists.estimates <= kEstimateMaximumProduct);
  return codes == kListBits ? check_bits(lists) : check_quantized(search, segment, lists);
}

std::string check(uint32_t codes, const ListSearch& search) {
  REQUIRE(search.items != 0 && search.items % 8 == 0);
  REQUIRE(search.counter != 0 && search.counter % 4 == 0);
  REQUIRE(*reinterpret_cast<const uint32_t*>(search.counter) == 0);
  REQUIRE(search.scratch != 0 && search.scratch % 16 == 0);
  REQUIRE(search.scratch_stride % 512 == 0);
  REQUIRE(search.scratch_stride >= list_scratch_bytes(search, search.team > 1, codes));
  REQUIRE(search.team <= kMostTeam && (search.team <= 1 || search.teams != 0));
  return "";
}

const Item& item_of(const ListSearch& search, uint32_t i) {
  return *reinterpret_cast<const Item*>(item_address(search, i));
}

}  // namespace

std::string list_search_host(uint32_t format, uint32_t codes, const ListSearch& search) {
  std::string wrong = check(codes, search);
  for (uint32_t i = 0; i < search.count && wrong.empty(); i++) {
    wrong = check(format, codes, search, item_of(search, i));
  }
  for (uint32_t i = 0; i < search.count && wrong.empty(); i++) {
    Searcher(item_of(search, i), codes).run();
  }
  return wrong;
}

}  // namespace vamana
