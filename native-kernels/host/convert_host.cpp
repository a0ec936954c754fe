#include "convert_host.h"

#include <algorithm>
#include <cstring>

#include "half.h"

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
  for (uint64_t row = 0; row < convert.rows; row++) {
    const float* source = row_of(convert.source, row, convert.source_stride);
    uint8_t* target = reinterpret_cast<uint8_t*>(convert.target) + row * convert.target_stride;
    std::memset(target, 0, convert.target_stride);
    for (uint32_t d = 0; d < convert.dimension; d++) {
      target[d] = to_byte(source[d], convert.scale, convert.offset);
    }
  }
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
