// The kernels that build graphs, followed by one thread.
#pragma once

#include <string>

#include "vamana/build.h"

namespace vamana {

void build_items_host(const Build& build);
void build_norms_host(const Build& build);
void build_count_host(const Build& build);
void build_place_host(const Build& build);
void build_scatter_host(const Build& build);
void build_reach_host(const Build& build);
template <bool PRODUCTS>
std::string build_choose_host(const Build& build);
std::string build_append_host(const Build& build);
template <bool PRODUCTS>
std::string build_merge_host(const Build& build);

}  // namespace vamana
