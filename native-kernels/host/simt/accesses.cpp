// Functions that the compiler calls before each memory access of kernels, which are compiled with -fsanitize=thread.
// Nothing else of that sanitizer is used.
#include <cstddef>
#include <cstdint>

#include "fibers.h"

using vamana::simt::accessed;
using vamana::simt::kRead;
using vamana::simt::kWrite;

#define VAMANA_ACCESSES(bytes)                                                    \
  void __tsan_read##bytes(const void* address) {                                  \
    accessed(address, bytes, kRead, __builtin_return_address(0));                 \
  }                                                                               \
  void __tsan_write##bytes(const void* address) {                                 \
    accessed(address, bytes, kWrite, __builtin_return_address(0));                \
  }                                                                               \
  void __tsan_unaligned_read##bytes(const void* address) {                        \
    accessed(address, bytes, kRead, __builtin_return_address(0));                 \
  }                                                                               \
  void __tsan_unaligned_write##bytes(const void* address) {                       \
    accessed(address, bytes, kWrite, __builtin_return_address(0));                \
  }

#pragma GCC visibility push(hidden)
extern "C" {

VAMANA_ACCESSES(1)
VAMANA_ACCESSES(2)
VAMANA_ACCESSES(4)
VAMANA_ACCESSES(8)
VAMANA_ACCESSES(16)

void __tsan_read_range(const void* address, size_t bytes) {
  accessed(address, bytes, kRead, __builtin_return_address(0));
}

void __tsan_write_range(const void* address, size_t bytes) {
  accessed(address, bytes, kWrite, __builtin_return_address(0));
}

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}

}  // extern "C"
#pragma GCC visibility pop
