// Launches of kernels by name, for tests.
#include "launches.h"

#include <string>

#include "../export.h"
#include "fibers.h"

using namespace vamana;

namespace {

thread_local std::string last_error;

}  // namespace

// 1 if there is a kernel with a name.
VAMANA_EXPORT uint32_t vamana_simt_has_kernel(const char* name) {
  return simt::list_kernel(name) != nullptr || simt::walk_kernel(name) != nullptr ? 1 : 0;
}

// Runs a launch of a kernel on the calling thread, with the host's addresses in its parameter. With `one_by_one` each
// block begins when the one before has ended, otherwise all make progress in an order that the seed decides. Returns
// why it failed, valid until the thread's next launch, or null.
VAMANA_EXPORT const char* vamana_simt_launch(const char* name, const void* parameters,
                                             uint32_t blocks, uint32_t shared_bytes, uint64_t seed,
                                             uint32_t one_by_one) {
  const simt::Kernel* kernel = simt::list_kernel(name);
  if (kernel == nullptr) {
    kernel = simt::walk_kernel(name);
  }
  if (kernel == nullptr) {
    last_error = std::string("no kernel ") + name;
  } else {
    const simt::Grid grid = {blocks, kernel->warps, shared_bytes, seed, one_by_one != 0};
    last_error = simt::launch([&] { kernel->run(parameters); }, grid);
  }
  return last_error.empty() ? nullptr : last_error.c_str();
}
