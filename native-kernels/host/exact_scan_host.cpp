#include "exact_scan_host.h"

#include <algorithm>
#include <vector>

#include "vamana/bytes.h"
#include "vamana/score.h"

namespace vamana {

uint32_t exact_order_host(const ExactScan& p, bool bytes, uint32_t query, uint32_t row) {
  const float* target =
      reinterpret_cast<const float*>(p.queries + static_cast<uint64_t>(query) * p.query_stride);
  const uint8_t* source = reinterpret_cast<const uint8_t*>(p.rows) +
                          static_cast<uint64_t>(row) * p.row_stride;
  if (bytes) {
    int32_t product = 0;
    int32_t norm2 = 0;
    int32_t query_norm2 = 0;
    for (uint32_t d = 0; d < p.dimension; d++) {
      const int32_t q = static_cast<int32_t>(target[d]);
      const int32_t x = reinterpret_cast<const int8_t*>(source)[d];
      product += q * x;
      norm2 += x * x;
      query_norm2 += q * q;
    }
    return exact_order(byte_score(p.similarity, p.dimension, product, norm2, query_norm2));
  }
  Sums sums{0, 0};
  float norm = 0;
  for (uint32_t d = 0; d < p.dimension; d++) {
    accumulate(sums, p.similarity == kEuclidean, target[d],
               reinterpret_cast<const float*>(source)[d]);
    norm = fmaf(target[d], target[d], norm);
  }
  return exact_order(score_of(p.similarity, sums, norm));
}

namespace {

// Sorts keys and writes the best k as the list of that number.
void write_best(const ExactScan& p, uint64_t lists, uint64_t number, std::vector<uint64_t>& keys) {
  std::sort(keys.begin(), keys.end());
  keys.resize(p.k, kNoKey);
  std::copy(keys.begin(), keys.end(), reinterpret_cast<uint64_t*>(lists) + number * p.k);
}

}  // namespace

template <bool BYTES, bool JOINS>
std::string exact_few_host(const ExactScan& p) {
  if (p.scores == 0 && p.k > kExactFewHits) {
    return "exact_few keeps at most " + std::to_string(kExactFewHits) + " hits";
  }
  const uint32_t parts = JOINS ? 1 : p.part_count;
  if (p.scores == 0 && (parts < 1 || parts > kExactParts)) {
    return "exact_few has " + std::to_string(parts) + " parts";
  }
  for (uint32_t query = 0; query < p.query_count; query++) {
    std::vector<std::vector<uint64_t>> keys(p.scores == 0 ? parts : 0);
    for (uint32_t i = 0; i < p.candidates; i++) {
      uint32_t row = exact_row(p, i);
      uint32_t order = row == kUnusedSlot ? kExactExcluded : exact_order_host(p, BYTES, query, row);
      if (p.scores != 0) {
        reinterpret_cast<float*>(p.scores)[query * p.score_stride + i] = exact_selected(order);
      } else if (order != kExactExcluded) {
        keys[i % parts].push_back(exact_key(order, exact_ordinal(p, i)));
      }
    }
    for (uint32_t part = 0; part < keys.size(); part++) {
      const uint64_t number = static_cast<uint64_t>(query) * parts + part;
      write_best(p, JOINS ? p.found : p.parts, number, keys[part]);
    }
  }
  return "";
}

template std::string exact_few_host<false, false>(const ExactScan&);
template std::string exact_few_host<false, true>(const ExactScan&);
template std::string exact_few_host<true, false>(const ExactScan&);
template std::string exact_few_host<true, true>(const ExactScan&);

std::string exact_few_join_host(const ExactScan& p) {
  const uint64_t* parts = reinterpret_cast<const uint64_t*>(p.parts);
  for (uint64_t query = 0; query < p.query_count; query++) {
    const uint64_t each = uint64_t{p.part_count} * p.k;
    std::vector<uint64_t> keys(parts + query * each, parts + (query + 1) * each);
    write_best(p, p.found, query, keys);
  }
  return "";
}

template <bool BYTES, uint32_t QUERIES>
std::string exact_many_host(const ExactMany& m) {
  const ExactScan* scans = reinterpret_cast<const ExactScan*>(m.scans);
  const ExactBlock* all = reinterpret_cast<const ExactBlock*>(m.blocks);
  for (uint32_t i = 0; i < m.count; i++) {
    const ExactBlock& block = all[i];
    if (block.part >= block.parts || block.parts > kExactParts) {
      return "block " + std::to_string(i) + " is no part of a scan";
    }
    const ExactScan& p = scans[block.scan];
    if (p.query_count > QUERIES || p.scores != 0) {
      return "exact_many takes up to " + std::to_string(QUERIES) + " queries, and writes no scores";
    }
    // the last block joins
    if (++*reinterpret_cast<uint32_t*>(p.ticket) == block.parts) {
      *reinterpret_cast<uint32_t*>(p.ticket) = 0;
      std::string error = exact_few_host<BYTES, true>(p);
      if (!error.empty()) {
        return error;
      }
    }
  }
  return "";
}

template std::string exact_many_host<false, 1>(const ExactMany&);
template std::string exact_many_host<false, 4>(const ExactMany&);
template std::string exact_many_host<true, 1>(const ExactMany&);
template std::string exact_many_host<true, 4>(const ExactMany&);

std::string exact_found_host(const ExactScan& p) {
  for (uint64_t i = 0; i < static_cast<uint64_t>(p.query_count) * p.k; i++) {
    reinterpret_cast<uint64_t*>(p.found)[i] =
        exact_hit(p, reinterpret_cast<const float*>(p.selected_keys)[i],
                  reinterpret_cast<const uint32_t*>(p.selected_candidates)[i]);
  }
  return "";
}

std::string exact_join_host(const ExactScan& p) {
  for (uint32_t query = 0; query < p.query_count; query++) {
    const uint64_t offset = static_cast<uint64_t>(query) * p.k;
    const uint64_t* found = reinterpret_cast<const uint64_t*>(p.found) + offset;
    const uint64_t* earlier = reinterpret_cast<const uint64_t*>(p.earlier) + offset;
    std::vector<uint64_t> keys(found, found + p.k);
    keys.insert(keys.end(), earlier, earlier + p.k);
    std::sort(keys.begin(), keys.end());
    std::copy(keys.begin(), keys.begin() + p.k, reinterpret_cast<uint64_t*>(p.joined) + offset);
  }
  return "";
}

}  // namespace vamana
