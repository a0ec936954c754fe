// The walk kernels, one item after the other on the calling thread.
#pragma once

#include <cstdint>
#include <string>

#include "vamana/types.h"

namespace vamana {

// Answers all items of a launch. Addresses in the parameter blocks are the host's. Returns what is
// wrong with the parameters, or nothing; then no item has been answered.
std::string walk_host(uint32_t policy, uint32_t warps, const Walk& walk);

}  // namespace vamana
