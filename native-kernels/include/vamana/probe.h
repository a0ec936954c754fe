// What the ceilings of a device are measured with: probe_copy, probe_gather and probe_chase; and
// probe_trap, which fails. Each takes a Probe by value and works with any number of blocks; threads
// of a block are a multiple of 32.
#pragma once

#include <cstddef>
#include <cstdint>

#include "vamana/platform.h"

namespace vamana {

// Threads that read a row together, 16 bytes each at a time.
constexpr uint32_t kProbeGroup = 16;

struct Probe {
  uint64_t source;     // rows of row_bytes bytes, 16-byte aligned; device or mapped host memory
  uint64_t target;     // probe_copy: as large as source. Else a uint32 that gets the exclusive or
                       // of all 32-bit words that were read, so that no read can be left out
  uint32_t rows;       // rows of source, at least 1
  uint32_t row_bytes;  // a multiple of 16
  uint32_t chains;     // probe_gather: rows to read; probe_chase: chains of dependent reads
  uint32_t hops;       // probe_chase: rows of a chain; probe_trap: traps if this is not 0
  uint32_t seed;
  uint32_t reserved;
};

static_assert(sizeof(Probe) == 40, "Probe");

// Finalizer of MurmurHash3: every bit of the input changes about half of the output.
VAMANA_HD uint32_t probe_mix(uint32_t value) {
  value ^= value >> 16;
  value *= 0x85EBCA6Bu;
  value ^= value >> 13;
  value *= 0xC2B2AE35u;
  return value ^ (value >> 16);
}

// A row chosen by a number; all rows about equally often.
VAMANA_HD uint32_t probe_row(uint32_t number, uint32_t rows) {
  return static_cast<uint32_t>((static_cast<uint64_t>(probe_mix(number)) * rows) >> 32);
}

// The row that follows in a chain, given the first word of the row just read.
VAMANA_HD uint32_t probe_next(uint32_t word, uint32_t chain, uint32_t hop, uint32_t rows) {
  return probe_row(word ^ (chain * 0x9E3779B1u) ^ (hop + 1), rows);
}

}  // namespace vamana
