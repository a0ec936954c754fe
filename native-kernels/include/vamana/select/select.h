// The k smallest keys of each of many rows. Every kernel of select_*.cu takes a Select by value.
#pragma once

#include <cstddef>
#include <cstdint>

#include "vamana/platform.h"
#include "vamana/select/pair.h"

namespace vamana {
namespace select {

// A row's k smallest keys by pair.h's order go to out_keys and out_ids; a key's id is its column. Where n < k, the places from
// n on hold NaN and kNoId. All arrays are the device's.
struct Select {
  uint64_t keys;      // rows of stride floats, the first n of which count; 16-byte aligned
  uint64_t out_keys;  // rows of k floats
  uint64_t out_ids;   // rows of k uint32
  uint64_t scratch;   // scratch of the kernel, see below; 256-byte aligned
  uint32_t rows;
  uint32_t n;           // 1 to 2^31 - 1
  uint32_t stride;      // a multiple of 4
  uint32_t k;           // at least 1
  uint32_t partitions;  // blocks that share a row
  uint32_t reserved;
};

static_assert(sizeof(Select) == 56, "Select");

// Columns of each partition of a row: a multiple of 4; the last partition may have fewer.
VAMANA_HD uint32_t partition_columns(uint32_t n, uint32_t partitions) {
  const uint32_t each = (n + partitions - 1) / partitions;
  return (each + 3) & ~3u;
}

// Scratch of select_bits_* with several partitions: two counters for each of up to kMaxSharedRows
// rows, zero before the first launch and again after each; then room for k pairs of each partition of
// each row.
constexpr uint32_t kMaxSharedRows = 16384;
constexpr uint32_t kCounterBytes = 8 * kMaxSharedRows;

VAMANA_HD uint64_t partition_scratch_bytes(uint32_t rows, uint32_t partitions, uint32_t k) {
  return partitions == 1 ? 0
                         : kCounterBytes + static_cast<uint64_t>(rows) * partitions * k * 8;
}

}  // namespace select
}  // namespace vamana
