// Searches of inverted lists on the CPU, as the kernels do them.
#pragma once

#include <cstdint>
#include <string>

#include "vamana/lists.h"

namespace vamana {

// Searches all items. `codes` is their ListCodes, `format` the VectorFormat of raw vectors. Returns the first precondition
// of the kernel that does not hold, or an empty string.
std::string list_search_host(uint32_t format, uint32_t codes, const ListSearch& search);

}  // namespace vamana
