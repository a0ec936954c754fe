// Launches whose threads are fibers.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace vamana {

namespace simt {

struct Grid {
  uint32_t blocks;
  uint32_t warps;         // of a block
  uint32_t shared_bytes;  // of a block
  uint64_t seed;          // decides who runs when
  bool one_by_one;        // each block begins when the one before has ended
};

// Calls the body once for each thread. Returns what went wrong, or nothing.
std::string launch(const std::function<void()>& body, const Grid& grid);

}  // namespace simt

}  // namespace vamana
