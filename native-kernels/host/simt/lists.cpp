// The kernels that search inverted lists, as the device's compiler sees them, for simulated threads.
#include "simt.h"

#include "launches.h"
#include "lists.cuh"

namespace {

using namespace vamana;

template <uint32_t FORMAT, int WARPS, uint32_t CODES>
void run(const void* parameters) {
  search_list_items<FORMAT, WARPS, CODES>(*static_cast<const ListSearch*>(parameters));
}

#define LISTS(name, format, codes)                                   \
  {"list_search_" #name "_w4", 4, run<format, 4, codes>}, {         \
    "list_search_" #name "_w24", 24, run<format, 24, codes>         \
  }

constexpr simt::Kernel kKernels[] = {
    LISTS(float, kFloat32, kListBits),          LISTS(byte, kByte, kListBits),
    LISTS(float_table, kFloat32, kListTable),   LISTS(byte_table, kByte, kListTable),
    LISTS(float_global, kFloat32, kListTableGlobal), LISTS(byte_global, kByte, kListTableGlobal),
};

}  // namespace

namespace vamana::simt {

const Kernel* list_kernel(const char* name) { return find(kKernels, name); }

}  // namespace vamana::simt
