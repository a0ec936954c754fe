// The kernels that walk graphs, as the device's compiler sees them, for simulated threads: of each way to compute
// distances those whose blocks have one warp, two, eight and sixteen.
#include "simt.h"

#include "launches.h"
#include "walk.cuh"

namespace {

using namespace vamana;

template <uint32_t POLICY, int WARPS>
void run(const void* parameters) {
  walk_items<POLICY, WARPS, false>(*static_cast<const Walk*>(parameters));
}

#define WALKS(name, policy)                                                                       \
  {"walk_" #name "_w1", 1, run<policy, 1>}, {"walk_" #name "_w2", 2, run<policy, 2>},             \
      {"walk_" #name "_w8", 8, run<policy, 8>}, {"walk_" #name "_w16", 16, run<policy, 16>}

constexpr simt::Kernel kKernels[] = {
    WALKS(exact_f32, kExactFloat32),
    WALKS(exact_byte, kExactByte),
    WALKS(table_half, kTableHalf),
    WALKS(table_float, kTableFloat),
    WALKS(table_global, kTableFloatGlobal),
};

}  // namespace

namespace vamana::simt {

const Kernel* walk_kernel(const char* name) { return find(kKernels, name); }

}  // namespace vamana::simt
