// Kernels of exact search on the calling thread. Addresses are the host's.
#pragma once

#include <string>

#include "vamana/exact_scan.h"

namespace vamana {

// JOINS: finds the best of all rows. Otherwise the best of each part are left to exact_few_join.
template <bool BYTES, bool JOINS>
std::string exact_few_host(const ExactScan& scan);
std::string exact_few_join_host(const ExactScan& scan);
template <bool BYTES, uint32_t QUERIES>
std::string exact_many_host(const ExactMany& many);
std::string exact_found_host(const ExactScan& scan);
std::string exact_join_host(const ExactScan& scan);
std::string exact_facts_host(const ExactScan& scan);
std::string exact_rows_host(const ExactScan& scan);
std::string exact_targets_host(const ExactScan& scan);
template <uint32_t FORMAT>
std::string exact_products_host(const ExactScan& scan);
std::string exact_narrow_host(const ExactScan& scan);
template <bool BYTES>
std::string exact_finish_host(const ExactScan& scan);

// The order of a row's score.
uint32_t exact_order_host(const ExactScan& scan, bool bytes, uint32_t query, uint32_t row);

}  // namespace vamana
