// The kernels that search inverted lists, as the device's compiler sees them, for simulated threads.
#include <cstring>
#include <string>

#include "simt.h"

#include "../export.h"
#include "fibers.h"
#include "lists.cuh"

namespace {

using namespace vamana;

thread_local std::string last_error;

template <uint32_t FORMAT, int WARPS, uint32_t CODES>
void run(const ListSearch& search) {
  search_list_items<FORMAT, WARPS, CODES>(search);
}

struct Kernel {
  const char* name;
  uint32_t warps;
  void (*run)(const ListSearch&);
};

#define LISTS(name, format, codes)                                   \
  {"list_search_" #name "_w4", 4, run<format, 4, codes>}, {         \
    "list_search_" #name "_w24", 24, run<format, 24, codes>         \
  }

constexpr Kernel kKernels[] = {
    LISTS(float, kFloat32, kListBits),          LISTS(byte, kByte, kListBits),
    LISTS(float_table, kFloat32, kListTable),   LISTS(byte_table, kByte, kListTable),
    LISTS(float_global, kFloat32, kListTableGlobal), LISTS(byte_global, kByte, kListTableGlobal),
};

}  // namespace

// Runs a launch of a kernel on the calling thread, with the host's addresses in its parameter. With `one_by_one` each
// block begins when the one before has ended, otherwise all make progress in an order that the seed decides. Returns
// why it failed, valid until the thread's next launch, or null.
VAMANA_EXPORT const char* vamana_simt_launch(const char* name, const void* parameters,
                                             uint32_t blocks, uint32_t shared_bytes, uint64_t seed,
                                             uint32_t one_by_one) {
  for (const Kernel& kernel : kKernels) {
    if (std::strcmp(kernel.name, name) == 0) {
      ListSearch search;
      std::memcpy(&search, parameters, sizeof search);
      const simt::Grid grid = {blocks, kernel.warps, shared_bytes, seed, one_by_one != 0};
      last_error = simt::launch([&] { kernel.run(search); }, grid);
      return last_error.empty() ? nullptr : last_error.c_str();
    }
  }
  last_error = std::string("no kernel ") + name;
  return last_error.c_str();
}
