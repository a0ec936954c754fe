// Launches of the shipped kernels by name, for tests: sources of kernels are in this library, each kernel as a function
// whose parameter is on the stack.
#include <dlfcn.h>

#include <cstdint>
#include <cstring>
#include <mutex>
#include <string>

#include "../export.h"
#include "fibers.h"

using namespace vamana;

namespace {

// A function that takes a structure by value finds it at the same place whatever its size is.
struct Parameters {
  uint8_t bytes[1024];
};
using Kernel = void (*)(Parameters);

thread_local std::string last_error;

// Held while a kernel runs that may have __shared__ variables; kernels that search do not.
std::mutex alone;

bool searches(const std::string& name) { return name.find("walk_") == 0 || name.find("list_") == 0; }

Kernel find(const char* name) {
  Dl_info own;
  dladdr(reinterpret_cast<const void*>(&find), &own);
  void* library = dlopen(own.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  void* kernel = dlsym(library, name);
  dlclose(library);
  return reinterpret_cast<Kernel>(kernel);
}

}  // namespace

// 1 if there is a kernel with a name.
VAMANA_EXPORT uint32_t vamana_simt_has_kernel(const char* name) { return find(name) != nullptr ? 1 : 0; }

// Runs a launch of a kernel on the calling thread, with the host's addresses in its parameter. With `one_by_one` each
// block begins when the one before has ended, which kernels with __shared__ variables need; otherwise all make progress
// in an order that the seed decides, and a race ends the launch. Returns why it failed, valid until the thread's next launch, or null.
VAMANA_EXPORT const char* vamana_simt_launch(const char* name, const void* parameters, uint32_t bytes, uint32_t blocks,
                                             uint32_t threads, uint32_t shared_bytes, uint64_t seed,
                                             uint32_t one_by_one) {
  const Kernel kernel = find(name);
  Parameters copy;
  if (kernel == nullptr || bytes > sizeof copy || threads == 0 || threads % 32 != 0) {
    last_error = std::string("no launch of ") + name + " with " + std::to_string(bytes) + " bytes and " +
                 std::to_string(threads) + " threads";
  } else {
    std::memcpy(&copy, parameters, bytes);
    const simt::Grid grid = {blocks, threads / 32, shared_bytes, seed, one_by_one != 0};
    std::unique_lock<std::mutex> lock(alone, std::defer_lock);
    if (searches(name) == false) {
      lock.lock();
    }
    last_error = simt::launch([&] { kernel(copy); }, grid);
  }
  return last_error.empty() ? nullptr : last_error.c_str();
}
