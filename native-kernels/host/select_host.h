// The k-selection kernels on the calling thread. Each returns why its parameters are not what the
// kernel takes for granted, or an empty string. Addresses are the host's.
#pragma once

#include <string>

#include "vamana/select/select.h"

namespace vamana {

// Kernels that leave sorted results, with k at most max_k.
std::string select_sorted_host(const select::Select& p, uint32_t max_k);

// Kernels that leave results in any order: that of columns here.
std::string select_large_host(const select::Select& p);

// Those launches of several whose work the others do here.
std::string select_nothing_host(const select::Select& p);

// Sorting of results: tiles of a size, of which a row has p.partitions.
std::string select_sort_host(const select::Select& p, uint32_t tile);

// One pass that merges runs; the last one sorts here.
std::string select_merge_host(const select::Select& p);

}  // namespace vamana
