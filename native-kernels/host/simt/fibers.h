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
  // each block begins when the one before has ended, and nobody looks for races: faster
  bool one_by_one;
};

// How threads access memory. An exchange is what a walk fills its visited set with while other warps read it, so it races
// with writes only; another atomic change races with reads, too.
enum Access : uint32_t { kRead, kWrite, kAtomic, kExchange };

// The shared memory of the block whose thread runs, if its launch looks for races.
struct Watched {
  const uint8_t* from = nullptr;
  size_t bytes = 0;
};

extern thread_local Watched watched __attribute__((tls_model("initial-exec")));

// As below, of bytes of watched memory.
void accessed_shared(size_t from, size_t bytes, Access how, const void* code);

// The running thread accesses memory, in code at an address. Ends its launch if that is a race (races.h).
inline void accessed(const void* address, size_t bytes, Access how, const void* code) {
  const size_t from = static_cast<size_t>(static_cast<const uint8_t*>(address) - watched.from);
  if (from < watched.bytes) {
    accessed_shared(from, bytes, how, code);
  }
}

// Calls the body once for each thread. Returns what went wrong, or nothing.
std::string launch(const std::function<void()>& body, const Grid& grid);

}  // namespace simt

}  // namespace vamana
