// Kernels by name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace vamana {

namespace simt {

struct Kernel {
  const char* name;
  uint32_t warps;
  void (*run)(const void* parameters);  // what each thread does
};

// The kernel with a name, or null.
template <size_t COUNT>
const Kernel* find(const Kernel (&kernels)[COUNT], const char* name) {
  for (const Kernel& kernel : kernels) {
    if (std::strcmp(kernel.name, name) == 0) {
      return &kernel;
    }
  }
  return nullptr;
}

const Kernel* list_kernel(const char* name);
const Kernel* walk_kernel(const char* name);

}  // namespace simt

}  // namespace vamana
