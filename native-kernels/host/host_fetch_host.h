// The host-fetch kernels on the calling thread, see vamana/host_fetch.h. Addresses are the host's.
// Each returns what is wrong with its parameters, or nothing.
#pragma once

#include <string>

#include "vamana/host_fetch.h"

namespace vamana {

// How host_fetch_distance_* add up.
enum class Reduction { kGroups, kAtomics, kWarps, kBlocks };

std::string host_fetch_begin_host(const HostFetch& p);
std::string host_fetch_filter_host(const HostFetch& p);
std::string host_fetch_distance_host(Reduction reduction, const HostFetch& p);
std::string host_fetch_pick_host(const HostFetch& p);
std::string host_fetch_sort_host(const HostFetch& p);
std::string host_fetch_merge_host(const HostFetch& p);
std::string host_fetch_near_host(const HostFetch& p);
std::string host_fetch_update_host(const HostFetch& p);
std::string host_fetch_rerank_host(const FetchRerank& p);

}  // namespace vamana
