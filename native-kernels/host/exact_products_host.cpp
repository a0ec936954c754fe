// The kernels of the tensor core path, with the same formats, bounds and rules.
#include <algorithm>
#include <cstring>
#include <vector>

#include "exact_scan_host.h"
#include "half.h"
#include "vamana/convert.h"
#include "vamana/exact_bound.h"

namespace vamana {

namespace {

float component(const uint8_t* row, bool bytes, uint32_t d) {
  return bytes ? static_cast<float>(reinterpret_cast<const int8_t*>(row)[d])
               : reinterpret_cast<const float*>(row)[d];
}

float norm2_of(const uint8_t* row, bool bytes, uint32_t dimension) {
  float sum = 0;
  for (uint32_t d = 0; d < dimension; d++) {
    sum = fmaf(component(row, bytes, d), component(row, bytes, d), sum);
  }
  return sum;
}

int32_t integer_norm2_of(const uint8_t* row, bool bytes, uint32_t dimension) {
  int32_t sum = 0;
  for (uint32_t d = 0; d < dimension; d++) {
    int32_t value = static_cast<int32_t>(component(row, bytes, d));
    sum += value * value;
  }
  return sum;
}

void write_copy(const ExactScan& p, uint64_t target, const uint8_t* row, bool bytes, float factor) {
  std::memset(reinterpret_cast<void*>(target), 0, p.copy_stride);
  for (uint32_t d = 0; row != nullptr && d < p.dimension; d++) {
    float value = component(row, bytes, d);
    if (p.format == kExactHalf) {
      reinterpret_cast<uint16_t*>(target)[d] = to_half(value * factor);
    } else {
      reinterpret_cast<uint8_t*>(target)[d] = static_cast<uint8_t>(static_cast<int>(value));
    }
  }
}

float factor_of(const ExactScan& p, float norm2) {
  return p.similarity == kCosine ? 1 / std::sqrt(norm2) : p.scale;
}

uint32_t& of_query(uint64_t array, uint32_t query) {
  return reinterpret_cast<uint32_t*>(array)[query];
}

template <uint32_t FORMAT>
uint32_t product(const ExactScan& p, uint64_t target, uint64_t copy, uint32_t bias) {
  if constexpr (FORMAT == kExactHalf) {
    float sum = bits_float(bias);
    for (uint32_t d = 0; d < p.dimension; d++) {
      sum += half_value(reinterpret_cast<const uint16_t*>(target)[d]) *
             half_value(reinterpret_cast<const uint16_t*>(copy)[d]);
    }
    return float_bits(sum);
  } else {
    int32_t sum = static_cast<int32_t>(bias);
    for (uint32_t d = 0; d < p.dimension; d++) {
      if constexpr (FORMAT == kExactUnsigned) {
        sum += reinterpret_cast<const uint8_t*>(target)[d] *
               reinterpret_cast<const uint8_t*>(copy)[d];
      } else {
        sum += reinterpret_cast<const int8_t*>(target)[d] *
               reinterpret_cast<const int8_t*>(copy)[d];
      }
    }
    return static_cast<uint32_t>(sum);
  }
}

bool reaches(uint32_t format, uint32_t sum, uint32_t threshold) {
  return exact_floats(format)
             ? bits_float(sum) >= bits_float(threshold)
             : static_cast<int32_t>(sum) >= static_cast<int32_t>(threshold);
}

}  // namespace

std::string exact_facts_host(const ExactScan& p) {
  ExactFacts& facts = *reinterpret_cast<ExactFacts*>(p.facts);
  for (uint64_t i = 0; i < p.size; i++) {
    const uint8_t* row = reinterpret_cast<const uint8_t*>(p.rows + i * p.row_stride);
    for (uint32_t d = 0; d < p.dimension; d++) {
      facts.flags |= range_flags(component(row, false, d));
    }
    float norm2 = norm2_of(row, false, p.dimension);
    if (is_finite(norm2)) {
      facts.largest_norm = std::max(facts.largest_norm, float_bits(std::sqrt(norm2)));
    } else {
      facts.flags |= kNotFinite;
    }
  }
  return "";
}

std::string exact_rows_host(const ExactScan& p) {
  if (p.tiles != (p.candidates + kExactTile - 1) / kExactTile || p.copy_stride % kExactDepth != 0) {
    return "exact_rows: " + std::to_string(p.tiles) + " tiles, stride " +
           std::to_string(p.copy_stride);
  }
  const bool bytes = p.byte_scoring != 0;
  for (uint64_t i = 0; i < static_cast<uint64_t>(p.tiles) * kExactTile; i++) {
    uint32_t row = i < p.candidates ? exact_row(p, static_cast<uint32_t>(i)) : kUnusedSlot;
    const uint8_t* source = nullptr;
    float factor = 0;
    uint32_t bias = exact_barred(p.format);
    if (row != kUnusedSlot) {
      source = reinterpret_cast<const uint8_t*>(p.rows) + static_cast<uint64_t>(row) * p.row_stride;
      float norm2 = norm2_of(source, bytes, p.dimension);
      factor = factor_of(p, norm2);
      if (is_finite(factor)) {
        bias = exact_floats(p.format)
                   ? exact_half_bias(p, norm2)
                   : exact_integer_bias(p, integer_norm2_of(source, bytes, p.dimension));
      } else {
        source = nullptr;
        reinterpret_cast<ExactFacts*>(p.facts)->skipped++;
      }
    }
    write_copy(p, p.copies + i * p.copy_stride, source, bytes, factor);
    reinterpret_cast<uint32_t*>(p.biases)[i] = bias;
  }
  return "";
}

std::string exact_targets_host(const ExactScan& p) {
  const ExactFacts& facts = *reinterpret_cast<const ExactFacts*>(p.facts);
  const float row_norm =
      p.similarity == kCosine ? 1 : bits_float(facts.largest_norm) * p.scale;
  for (uint32_t i = 0; i < (p.query_count + kExactTile - 1) / kExactTile * kExactTile; i++) {
    const bool asked = i < p.query_count;
    const uint8_t* source =
        asked ? reinterpret_cast<const uint8_t*>(p.queries + uint64_t{i} * p.query_stride) : nullptr;
    const float norm = asked ? std::sqrt(norm2_of(source, false, p.dimension)) * p.scale : 0;
    const bool odd = !is_finite(norm);
    write_copy(p, p.targets + uint64_t{i} * p.copy_stride, odd ? nullptr : source, false, p.scale);
    of_query(p.thresholds, i) = asked && !odd ? exact_lowest(p.format) : exact_never(p.format);
    of_query(p.counts, i) = odd ? p.capacity + 1 : 0;
    of_query(p.slacks, i) = exact_slack(p, norm, row_norm);
  }
  return "";
}

template <uint32_t FORMAT>
std::string exact_products_host(const ExactScan& p) {
  if (p.first_tile + p.tile_count > p.tiles || p.format != FORMAT) {
    return "exact_products: tiles " + std::to_string(p.first_tile) + " and " +
           std::to_string(p.tile_count) + " more of " + std::to_string(p.tiles) + ", format " +
           std::to_string(p.format);
  }
  for (uint32_t t = 0; t < p.tile_count; t++) {
    const uint32_t first = exact_tile(p, p.first_tile + t) * kExactTile;
    for (uint32_t query = 0; query < p.query_count; query++) {
      const uint32_t threshold = of_query(p.thresholds, query);
      ExactEntry* buffer =
          reinterpret_cast<ExactEntry*>(p.buffers) + static_cast<uint64_t>(query) * p.capacity;
      for (uint32_t i = first; i < first + kExactTile; i++) {
        const uint32_t sum = product<FORMAT>(p, p.targets + uint64_t{query} * p.copy_stride,
                                             p.copies + uint64_t{i} * p.copy_stride,
                                             reinterpret_cast<const uint32_t*>(p.biases)[i]);
        if (reaches(FORMAT, sum, threshold)) {
          const uint32_t slot = of_query(p.counts, query)++;
          if (slot < p.capacity) {
            buffer[slot] = ExactEntry{sum, i};
          }
        }
      }
    }
  }
  return "";
}

template std::string exact_products_host<kExactHalf>(const ExactScan&);
template std::string exact_products_host<kExactUnsigned>(const ExactScan&);
template std::string exact_products_host<kExactSigned>(const ExactScan&);

std::string exact_narrow_host(const ExactScan& p) {
  for (uint32_t query = 0; query < p.query_count; query++) {
    uint32_t& count = of_query(p.counts, query);
    if (count > p.capacity) {
      of_query(p.thresholds, query) = exact_never(p.format);
    } else if (count >= p.k) {
      ExactEntry* buffer =
          reinterpret_cast<ExactEntry*>(p.buffers) + static_cast<uint64_t>(query) * p.capacity;
      std::sort(buffer, buffer + count, [&](const ExactEntry& a, const ExactEntry& b) {
        return exact_key(exact_rank(p.format, a.value), a.candidate) <
               exact_key(exact_rank(p.format, b.value), b.candidate);
      });
      const uint32_t threshold =
          exact_threshold(p.format, buffer[p.k - 1].value, of_query(p.slacks, query));
      while (exact_rank(p.format, buffer[count - 1].value) > exact_rank(p.format, threshold)) {
        count--;
      }
      of_query(p.thresholds, query) = threshold;
    }
  }
  return "";
}

template <bool BYTES>
std::string exact_finish_host(const ExactScan& p) {
  for (uint32_t query = 0; query < p.query_count; query++) {
    const uint32_t count = of_query(p.counts, query);
    uint64_t* found = reinterpret_cast<uint64_t*>(p.found) + static_cast<uint64_t>(query) * p.k;
    std::vector<uint64_t> keys;
    if (count > p.capacity ||
        (count < p.k && reinterpret_cast<const ExactFacts*>(p.facts)->skipped > 0)) {
      of_query(p.redo, query) = 1;
    } else {
      const ExactEntry* buffer =
          reinterpret_cast<const ExactEntry*>(p.buffers) + static_cast<uint64_t>(query) * p.capacity;
      for (uint32_t i = 0; i < count; i++) {
        const uint32_t row = exact_row(p, buffer[i].candidate);
        if (row == kUnusedSlot) {
          return "exact_finish: candidate " + std::to_string(buffer[i].candidate);
        }
        keys.push_back(exact_key(exact_order_host(p, BYTES, query, row),
                                 exact_ordinal(p, buffer[i].candidate)));
      }
    }
    std::sort(keys.begin(), keys.end());
    keys.resize(p.k, kNoKey);
    std::copy(keys.begin(), keys.end(), found);
  }
  return "";
}

template std::string exact_finish_host<false>(const ExactScan&);
template std::string exact_finish_host<true>(const ExactScan&);

}  // namespace vamana
