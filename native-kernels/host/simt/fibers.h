// Launches whose threads are fibers.
#pragma once

#include <cstddef>
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

// How threads access memory. An exchange is what a walk fills its visited set with while other warps read it, so it races
// with writes only; another atomic change races with reads, too.
enum Access : uint32_t { kRead, kWrite, kAtomic, kExchange };

// The running thread accesses memory, in code at an address. Ends its launch if that is a race (races.h).
void accessed(const void* address, size_t bytes, Access how, const void* code);

// Calls the body once for each thread. Returns what went wrong, or nothing.
std::string launch(const std::function<void()>& body, const Grid& grid);

}  // namespace simt

}  // namespace vamana
