// Walks and searches of lists by the names of their kernels, for tests without a device. simt/launches.cpp runs the
// other kernels.
#include <cstring>
#include <string>

#include "export.h"
#include "list_search_host.h"
#include "walk_host.h"

namespace {

using namespace vamana;

thread_local std::string last_error;

template <uint32_t POLICY, uint32_t WARPS>
std::string walk(const void* parameters) {
  return walk_host(POLICY, WARPS, *static_cast<const Walk*>(parameters));
}

template <uint32_t FORMAT, uint32_t CODES>
std::string lists(const void* parameters) {
  return list_search_host(FORMAT, CODES, *static_cast<const ListSearch*>(parameters));
}

struct Kernel {
  const char* name;
  std::string (*launch)(const void*);
};

#define WALK(name, policy)                                                             \
  {"walk_" #name "_w1", walk<policy, 1>}, {"walk_" #name "_w2", walk<policy, 2>},      \
      {"walk_" #name "_w4", walk<policy, 4>}, {"walk_" #name "_w8", walk<policy, 8>},  \
      {"walk_" #name "_w16", walk<policy, 16>}
#define LISTS(name, format, codes)                          \
  {"list_search_" #name "_w4", lists<format, codes>},       \
      {"list_search_" #name "_w8", lists<format, codes>},   \
      {"list_search_" #name "_w24", lists<format, codes>}

constexpr Kernel kKernels[] = {
    WALK(exact_f32, kExactFloat32),
    WALK(exact_f16, kExactFloat16),
    WALK(exact_byte, kExactByte),
    WALK(table_half, kTableHalf),
    WALK(table_float, kTableFloat),
    WALK(table_global, kTableFloatGlobal),
    LISTS(float, kFloat32, kListBits),
    LISTS(byte, kByte, kListBits),
    LISTS(float_table, kFloat32, kListTable),
    LISTS(byte_table, kByte, kListTable),
    LISTS(float_global, kFloat32, kListTableGlobal),
    LISTS(byte_global, kByte, kListTableGlobal),
};

const Kernel* find(const char* name) {
  for (const Kernel& kernel : kKernels) {
    if (std::strcmp(kernel.name, name) == 0) {
      return &kernel;
    }
  }
  return nullptr;
}

}  // namespace

// Whether there is a kernel of this name.
VAMANA_EXPORT int vamana_host_has_kernel(const char* name) { return find(name) != nullptr; }

// Does on the calling thread what a launch of the kernel does, with the host's addresses in its
// parameter. Returns why it failed, valid until the thread's next launch, or null. Any number of threads may call.
VAMANA_EXPORT const char* vamana_host_launch(const char* name, const void* parameters) {
  const Kernel* kernel = find(name);
  last_error = kernel == nullptr ? std::string("no kernel ") + name : kernel->launch(parameters);
  return last_error.empty() ? nullptr : last_error.c_str();
}
