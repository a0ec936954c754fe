// Searches of inverted lists on the CPU, as the kernels do them.
#pragma once

#include <cstdint>
#include <string>

#include "vamana/lists.h"

namespace vamana {

// Searches all items, whose codes are these ListCodes. Rows of raw vectors are of this VectorFormat. Returns what a kernel takes for granted and
// does not hold; empty if all does.
std::string list_search_host(uint32_t format, uint32_t codes, const ListSearch& search);

}  // namespace vamana
