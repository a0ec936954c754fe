// Parameter of the kernels that tests of a driver launch: probe_copy, and probe_trap, which fails. Each kernel takes a
// Probe by value and works with any number of blocks.
#pragma once

#include <cstdint>

namespace vamana {

struct Probe {
  uint64_t source;     // rows of row_bytes bytes, 16-byte aligned; device or mapped host memory
  uint64_t target;     // as large
  uint32_t rows;       // at least 1
  uint32_t row_bytes;  // a multiple of 16
  uint32_t chains;     // not used
  uint32_t hops;       // probe_trap: traps if this is not 0
  uint32_t seed;       // not used
  uint32_t reserved;
};

static_assert(sizeof(Probe) == 40, "Probe");

}  // namespace vamana
