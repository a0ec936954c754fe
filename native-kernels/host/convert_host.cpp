#include "convert_host.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "half.h"
#include "vamana/bytes.h"

namespace vamana {

namespace {

const float* row_of(uint64_t source, uint64_t row, uint32_t stride) {
  return reinterpret_cast<const float*>(source + row * stride);
}

uint32_t word_of(const Probe& probe, uint32_t row, uint32_t word) {
  return reinterpret_cast<const uint32_t*>(
      probe.source + static_cast<uint64_t>(row) * probe.row_bytes)[word];
}

uint32_t fold(const Probe& probe, uint32_t row) {
  uint32_t folded = 0;
  for (uint32_t word = 0; word < probe.row_bytes / 4; word++) {
    folded ^= word_of(probe, row, word);
  }
  return folded;
}

// Launches of several streams join one result, as they do on a device.
void join_max(uint32_t* target, uint32_t value) {
  uint32_t seen = __atomic_load_n(target, __ATOMIC_RELAXED);
  while (seen < value && !__atomic_compare_exchange_n(target, &seen, value, true, __ATOMIC_RELAXED,
                                                      __ATOMIC_RELAXED)) {
  }
}

}  // namespace

void convert_range_host(const Range& range) {
  RangeResult found{0, 0, 0, 0};
  for (uint64_t row = 0; row < range.rows; row++) {
    const float* source = row_of(range.source, row, range.source_stride);
    for (uint32_t d = 0; d < range.dimension; d++) {
      found.flags |= range_flags(source[d]);
      if (is_finite(source[d])) {
        found.highest = std::max(found.highest, sortable(source[d]));
        found.lowest = std::max(found.lowest, ~sortable(source[d]));
      }
    }
  }
  RangeResult* result = reinterpret_cast<RangeResult*>(range.result);
  join_max(&result->highest, found.highest);
  join_max(&result->lowest, found.lowest);
  __atomic_fetch_or(&result->flags, found.flags, __ATOMIC_RELAXED);
}

void convert_float16_host(const Convert& convert) {
  for (uint64_t row = 0; row < convert.rows; row++) {
    const float* source = row_of(convert.source, row, convert.source_stride);
    uint8_t* target = reinterpret_cast<uint8_t*>(convert.target) + row * convert.target_stride;
    std::memset(target, 0, convert.target_stride);
    for (uint32_t d = 0; d < convert.dimension; d++) {
      reinterpret_cast<uint16_t*>(target)[d] = to_half(source[d]);
    }
  }
}

void convert_byte_host(const Convert& convert) {
  const float* center = reinterpret_cast<const float*>(convert.center);
  uint32_t flags = 0;
  std::vector<float> row(convert.dimension);
  for (uint64_t number = 0; number < convert.rows; number++) {
    const float* source = row_of(convert.source, number, convert.source_stride);
    std::copy(source, source + convert.dimension, row.begin());
    float factor = 1;
    if (convert.unit != 0) {
      float largest = 0;
      for (float component : row) {
        largest = std::fmax(largest, std::fabs(component));
      }
      float squares = 0;
      for (float& component : row) {
        component = unit_part(component, largest);
        squares = std::fmaf(component, component, squares);
      }
      factor = unit_factor(squares);
    }
    float largest = 0;
    bool whole = true;
    for (uint32_t d = 0; d < convert.dimension; d++) {
      row[d] = std::fmaf(row[d], factor, -center[d]);
      flags |= is_finite(row[d]) ? 0u : kNotFinite;
      whole = whole && is_whole(row[d]);
      largest = std::fmax(largest, std::fabs(row[d]));
    }
    const float step = whole ? 1 : copy_step(largest);
    flags |= whole ? 0u : kRounded;
    int8_t* target = reinterpret_cast<int8_t*>(convert.target) + number * convert.target_stride;
    std::memset(target, 0, convert.target_stride);
    int32_t squares = 0;
    for (uint32_t d = 0; d < convert.dimension; d++) {
      target[d] = static_cast<int8_t>(copy_byte(row[d], step));
      squares += target[d] * target[d];
    }
    reinterpret_cast<ByteFacts*>(convert.facts)[number] = copy_facts(step, squares);
  }
  __atomic_fetch_or(&reinterpret_cast<RangeResult*>(convert.result)->flags, flags,
                    __ATOMIC_RELAXED);
}

void probe_copy_host(const Probe& probe) {
  std::memcpy(reinterpret_cast<void*>(probe.target), reinterpret_cast<const void*>(probe.source),
              static_cast<size_t>(probe.rows) * probe.row_bytes);
}

void probe_gather_host(const Probe& probe) {
  uint32_t& target = *reinterpret_cast<uint32_t*>(probe.target);
  for (uint32_t read = 0; read < probe.chains; read++) {
    target ^= fold(probe, probe_row(read ^ probe.seed, probe.rows));
  }
}

void probe_chase_host(const Probe& probe) {
  uint32_t& target = *reinterpret_cast<uint32_t*>(probe.target);
  for (uint32_t chain = 0; chain < probe.chains; chain++) {
    uint32_t row = probe_row(chain ^ probe.seed, probe.rows);
    for (uint32_t hop = 0; hop < probe.hops; hop++) {
      target ^= fold(probe, row);
      row = probe_next(word_of(probe, row, 0), chain, hop, probe.rows);
    }
  }
}

}  // namespace vamana
