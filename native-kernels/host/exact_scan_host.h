// Kernels of exact search on the calling thread. Addresses are the host's.
#pragma once

#include <string>

#include "vamana/exact_scan.h"

namespace vamana {

template <bool BYTES>
std::string exact_few_host(const ExactScan& scan);
std::string exact_select_host(const ExactScan& scan);
std::string exact_join_host(const ExactScan& scan);

}  // namespace vamana
