#include "select_host.h"

#include <algorithm>
#include <vector>

namespace vamana {

namespace {

using namespace select;

std::string wrong(const char* what, uint64_t value) {
  return std::string(what) + ", got " + std::to_string(value);
}

std::string check_results(const Select& p) {
  if (p.rows < 1) {
    return wrong("rows must be at least 1", p.rows);
  }
  if (p.k < 1) {
    return wrong("k must be at least 1", p.k);
  }
  if (p.partitions < 1) {
    return wrong("partitions must be at least 1", p.partitions);
  }
  return "";
}

std::string check_rows(const Select& p) {
  if (p.n < 1 || p.n > kMaxColumns) {
    return wrong("n must be 1 to 2147483647", p.n);
  }
  if (p.stride < p.n || p.stride % 4 != 0) {
    return wrong("stride must be a multiple of 4 and at least n", p.stride);
  }
  if (p.keys % 16 != 0 || p.ids % 16 != 0) {
    return wrong("rows must be aligned to 16 bytes", p.keys | p.ids);
  }
  return check_results(p);
}

std::vector<Pair> pairs_of(const Select& p, uint32_t row) {
  const uint64_t first = static_cast<uint64_t>(row) * p.stride;
  const float* keys = reinterpret_cast<const float*>(p.keys) + first;
  const uint32_t* ids = reinterpret_cast<const uint32_t*>(p.ids) + first;
  std::vector<Pair> pairs(p.n);
  for (uint32_t column = 0; column < p.n; column++) {
    pairs[column] = make_pair(keys[column], p.ids == 0 ? column : ids[column]);
  }
  return pairs;
}

void put_results(const Select& p, uint32_t row, const std::vector<Pair>& pairs) {
  for (uint32_t place = 0; place < p.k; place++) {
    const uint64_t at = static_cast<uint64_t>(row) * p.k + place;
    const Pair pair = place < pairs.size() ? pairs[place] : kNoPair;
    reinterpret_cast<float*>(p.out_keys)[at] = pair_key(pair);
    reinterpret_cast<uint32_t*>(p.out_ids)[at] = pair_id(pair);
  }
}

void sort_results(const Select& p) {
  for (uint32_t row = 0; row < p.rows; row++) {
    std::vector<Pair> pairs(p.k);
    for (uint32_t place = 0; place < p.k; place++) {
      const uint64_t at = static_cast<uint64_t>(row) * p.k + place;
      pairs[place] = make_pair(reinterpret_cast<const float*>(p.out_keys)[at],
                               reinterpret_cast<const uint32_t*>(p.out_ids)[at]);
    }
    std::sort(pairs.begin(), pairs.end());
    put_results(p, row, pairs);
  }
}

}  // namespace

std::string select_sorted_host(const Select& p, uint32_t max_k) {
  std::string error = check_rows(p);
  if (!error.empty()) {
    return error;
  }
  if (p.k > max_k) {
    return wrong("k is too large for this kernel", p.k);
  }
  for (uint32_t row = 0; row < p.rows; row++) {
    std::vector<Pair> pairs = pairs_of(p, row);
    std::sort(pairs.begin(), pairs.end());
    put_results(p, row, pairs);
  }
  return "";
}

std::string select_large_host(const Select& p) {
  std::string error = check_rows(p);
  if (!error.empty()) {
    return error;
  }
  for (uint32_t row = 0; row < p.rows; row++) {
    std::vector<Pair> pairs = pairs_of(p, row);
    if (p.k < p.n) {
      std::vector<Pair> ordered = pairs;
      std::nth_element(ordered.begin(), ordered.begin() + p.k - 1, ordered.end());
      const Pair last = ordered[p.k - 1];
      pairs.erase(
          std::remove_if(pairs.begin(), pairs.end(), [last](Pair pair) { return pair > last; }),
          pairs.end());
    }
    put_results(p, row, pairs);
  }
  return "";
}

std::string select_nothing_host(const Select& p) { return check_rows(p); }

std::string select_sort_host(const Select& p, uint32_t tile) {
  std::string error = check_results(p);
  if (!error.empty()) {
    return error;
  }
  if (p.partitions != (p.k + tile - 1) / tile) {
    return wrong("partitions must be the tiles of a row", p.partitions);
  }
  if (p.partitions == 1) {
    sort_results(p);
  }
  return "";
}

std::string select_merge_host(const Select& p) {
  std::string error = check_results(p);
  if (!error.empty()) {
    return error;
  }
  if (p.run >= p.k || p.array > 1) {
    return wrong("run must be below k", p.run);
  }
  if (2 * static_cast<uint64_t>(p.run) >= p.k) {
    sort_results(p);
  }
  return "";
}

}  // namespace vamana
