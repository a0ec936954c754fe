// Launches by name, as a driver has them, for tests without a device.
#include <cstring>
#include <iterator>
#include <string>

#include "build_host.h"
#include "convert_host.h"
#include "exact_scan_host.h"
#include "export.h"
#include "host_fetch_host.h"
#include "list_batch_host.h"
#include "list_search_host.h"
#include "select_host.h"
#include "kmeans_host.h"
#include "walk_host.h"

namespace {

using namespace vamana;

enum Outcome { kDone = 0, kUnknownKernel = 1, kTrapped = 2, kBadParameters = 3 };

thread_local std::string last_error;

template <typename Parameters>
Outcome run(void (*kernel)(const Parameters&), const void* parameters) {
  kernel(*static_cast<const Parameters*>(parameters));
  return kDone;
}

template <uint32_t POLICY, uint32_t WARPS>
Outcome run_walk(const void* parameters) {
  last_error = walk_host(POLICY, WARPS, *static_cast<const Walk*>(parameters));
  return last_error.empty() ? kDone : kBadParameters;
}

template <typename Parameters, std::string (*KERNEL)(const Parameters&)>
Outcome run_checked(const void* parameters) {
  last_error = KERNEL(*static_cast<const Parameters*>(parameters));
  return last_error.empty() ? kDone : kBadParameters;
}

template <uint32_t FORMAT, uint32_t CODES>
Outcome run_lists(const void* parameters) {
  last_error = list_search_host(FORMAT, CODES, *static_cast<const ListSearch*>(parameters));
  return last_error.empty() ? kDone : kBadParameters;
}

// A step of searches by many items together, whose names begin like this.
constexpr const char* kListBatch = "list_batch_";

Outcome run_batch(const char* name, const void* parameters) {
  last_error = list_batch_host(name + std::strlen(kListBatch),
                               *static_cast<const ListBatch*>(parameters));
  return last_error.empty() ? kDone : kBadParameters;
}

template <Reduction REDUCTION>
Outcome run_distance(const void* parameters) {
  last_error = host_fetch_distance_host(REDUCTION, *static_cast<const HostFetch*>(parameters));
  return last_error.empty() ? kDone : kBadParameters;
}

template <uint32_t LIMIT, std::string (*KERNEL)(const select::Select&, uint32_t)>
Outcome run_select(const void* parameters) {
  last_error = KERNEL(*static_cast<const select::Select*>(parameters), LIMIT);
  return last_error.empty() ? kDone : kBadParameters;
}

Outcome trap(const void* parameters) {
  return static_cast<const Probe*>(parameters)->hops != 0 ? kTrapped : kDone;
}

struct Kernel {
  const char* name;
  Outcome (*launch)(const void*);
};

#define WALK(name, policy)                            \
  {"walk_" #name "_w1", run_walk<policy, 1>},         \
      {"walk_" #name "_w2", run_walk<policy, 2>},     \
      {"walk_" #name "_w4", run_walk<policy, 4>}, {   \
    "walk_" #name "_w8", run_walk<policy, 8>          \
  }, {                                                \
    "walk_" #name "_w16", run_walk<policy, 16>        \
  }
#define LISTS(name, format, codes)                                       \
  {"list_search_" #name "_w4", run_lists<format, codes>}, {             \
    "list_search_" #name "_w24", run_lists<format, codes>               \
  }
#define LISTS_EIGHT(name, format, codes) \
  {"list_search_" #name "_w8", run_lists<format, codes>}
#define BATCH(step) \
  {"list_batch_" #step, [](const void* p) { return run_batch("list_batch_" #step, p); }}
#define BATCH_ITEMS(format)                                                        \
  BATCH(prepare_##format), BATCH(first_##format), BATCH(score_##format), BATCH(rest_##format)
#define SIMPLE(name) {#name, [](const void* p) { return run(name##_host, p); }}
#define CHECKED(name, parameters) {#name, run_checked<parameters, name##_host>}

#define SELECT_SORTED(name, max_k) {#name, run_select<max_k, select_sorted_host>}
#define SELECT_WARP(best)                                       \
  SELECT_SORTED(select_warp_##best##_2, best),                  \
      SELECT_SORTED(select_warp_##best##_4, best), SELECT_SORTED(select_warp_##best##_8, best)
#define SELECT(name, kernel) {#name, run_checked<select::Select, kernel>}

constexpr Kernel kKernels[] = {
    WALK(exact_f32, kExactFloat32),
    WALK(exact_f16, kExactFloat16),
    WALK(exact_byte, kExactByte),
    WALK(table_half, kTableHalf),
    WALK(table_float, kTableFloat),
    WALK(table_global, kTableFloatGlobal),
    LISTS(float, kFloat32, kListBits),
    LISTS(byte, kByte, kListBits),
    LISTS(float_table, kFloat32, kListTable),
    LISTS(byte_table, kByte, kListTable),
    LISTS_EIGHT(float_table, kFloat32, kListTable),
    LISTS_EIGHT(byte_table, kByte, kListTable),
    LISTS(float_global, kFloat32, kListTableGlobal),
    LISTS(byte_global, kByte, kListTableGlobal),
    BATCH_ITEMS(float),
    BATCH_ITEMS(byte),
    BATCH(items),
    BATCH(queries),
    BATCH(measure),
    BATCH(keep),
    BATCH(count),
    BATCH(scan),
    BATCH(place),
    BATCH(estimate),
    SIMPLE(convert_range),
    SIMPLE(convert_float16),
    SIMPLE(convert_byte),
    SIMPLE(probe_copy),
    SIMPLE(probe_gather),
    SIMPLE(probe_chase),
    {"probe_trap", trap},
    CHECKED(host_fetch_begin, HostFetch),
    CHECKED(host_fetch_filter, HostFetch),
    {"host_fetch_distance_groups", run_distance<Reduction::kGroups>},
    {"host_fetch_distance_atomics", run_distance<Reduction::kAtomics>},
    {"host_fetch_distance_warps", run_distance<Reduction::kWarps>},
    {"host_fetch_distance_blocks", run_distance<Reduction::kBlocks>},
    CHECKED(host_fetch_pick, HostFetch),
    CHECKED(host_fetch_sort, HostFetch),
    CHECKED(host_fetch_merge, HostFetch),
    CHECKED(host_fetch_near, HostFetch),
    CHECKED(host_fetch_update, HostFetch),
    CHECKED(host_fetch_rerank, FetchRerank),
    SELECT_SORTED(select_bits_512, 511),
    SELECT_SORTED(select_bits_1024, 1023),
    SELECT_SORTED(select_bits_2048, 2047),
    SELECT_SORTED(select_bits_4096, select::kMaxShortK),
    SELECT_SORTED(select_bits_8192, select::kMaxShortK),
    SELECT_SORTED(select_bits_global, select::kMaxGlobalK),
    SELECT_WARP(32),
    SELECT_WARP(128),
    SELECT_WARP(256),
    SELECT_WARP(512),
    SELECT_WARP(1024),
    SELECT_SORTED(select_partial_bitonic, select::kMaxShortK),
    SELECT_SORTED(select_merge_queue, select::kMaxShortK),
    SELECT(select_radix, select_large_host),
    SELECT(select_sample_splitters, select_nothing_host),
    SELECT(select_sample_count, select_nothing_host),
    SELECT(select_sample_find, select_nothing_host),
    SELECT(select_sample_split, select_large_host),
    SELECT(select_sample_finish, select_nothing_host),
    {"select_sort_4096", run_select<4096, select_sort_host>},
    {"select_sort_16384", run_select<16384, select_sort_host>},
    SELECT(select_sort_merge, select_merge_host),
    {"exact_few_float_q1", run_checked<ExactScan, exact_few_host<false, true>>},
    {"exact_few_float_q4", run_checked<ExactScan, exact_few_host<false, false>>},
    {"exact_few_float_q8", run_checked<ExactScan, exact_few_host<false, false>>},
    {"exact_few_float_q16", run_checked<ExactScan, exact_few_host<false, false>>},
    {"exact_few_byte_q1", run_checked<ExactScan, exact_few_host<true, true>>},
    {"exact_few_byte_q4", run_checked<ExactScan, exact_few_host<true, false>>},
    {"exact_few_byte_q8", run_checked<ExactScan, exact_few_host<true, false>>},
    {"exact_few_byte_q16", run_checked<ExactScan, exact_few_host<true, false>>},
    CHECKED(exact_few_join, ExactScan),
    {"exact_many_float_q1", run_checked<ExactMany, exact_many_host<false, 1>>},
    {"exact_many_float_q4", run_checked<ExactMany, exact_many_host<false, 4>>},
    {"exact_many_byte_q1", run_checked<ExactMany, exact_many_host<true, 1>>},
    {"exact_many_byte_q4", run_checked<ExactMany, exact_many_host<true, 4>>},
    CHECKED(exact_found, ExactScan),
    CHECKED(exact_join, ExactScan),
    CHECKED(exact_facts, ExactScan),
    CHECKED(exact_rows, ExactScan),
    CHECKED(exact_targets, ExactScan),
    {"exact_products_half", run_checked<ExactScan, exact_products_host<kExactHalf>>},
    {"exact_products_unsigned", run_checked<ExactScan, exact_products_host<kExactUnsigned>>},
    {"exact_products_signed", run_checked<ExactScan, exact_products_host<kExactSigned>>},
    CHECKED(exact_narrow, ExactScan),
    {"exact_finish_float", run_checked<ExactScan, exact_finish_host<false>>},
    {"exact_finish_byte", run_checked<ExactScan, exact_finish_host<true>>},
    {"kmeans_assign_4", [](const void* p) { return run(kmeans_assign_host, p); }},
    {"kmeans_assign_8", [](const void* p) { return run(kmeans_assign_host, p); }},
    {"kmeans_assign_16", [](const void* p) { return run(kmeans_assign_host, p); }},
    {"kmeans_assign_tile", [](const void* p) { return run(kmeans_assign_host, p); }},
    SIMPLE(kmeans_assign_bytes),
    SIMPLE(kmeans_fix),
    SIMPLE(kmeans_count),
    SIMPLE(kmeans_place),
    SIMPLE(kmeans_sort),
    SIMPLE(kmeans_sum_float),
    SIMPLE(kmeans_sum_byte),
    SIMPLE(kmeans_move),
    SIMPLE(kmeans_finish),
    {"kmeans_seed_4", [](const void* p) { return run(kmeans_seed_host, p); }},
    {"kmeans_seed_8", [](const void* p) { return run(kmeans_seed_host, p); }},
    {"kmeans_seed_16", [](const void* p) { return run(kmeans_seed_host, p); }},
    SIMPLE(kmeans_fill_float),
    SIMPLE(kmeans_fill_byte),
    SIMPLE(kmeans_gather_float),
    SIMPLE(kmeans_gather_byte),
    SIMPLE(kmeans_draw),
    SIMPLE(kmeans_near),
    SIMPLE(build_items),
    SIMPLE(build_norms),
    SIMPLE(build_count),
    SIMPLE(build_place),
    SIMPLE(build_scatter),
    SIMPLE(build_reach),
    {"build_append", run_checked<Build, build_append_host>},
    {"build_merge", run_checked<Build, build_merge_host<false>>},
    {"build_merge_products", run_checked<Build, build_merge_host<true>>},
    {"build_choose_w1", run_checked<Build, build_choose_host<false>>},
    {"build_choose_products_w1", run_checked<Build, build_choose_host<true>>},
    {"build_choose_w4", run_checked<Build, build_choose_host<false>>},
    {"build_choose_products_w4", run_checked<Build, build_choose_host<true>>},
};

const Kernel* find(const char* name) {
  for (const Kernel& kernel : kKernels) {
    if (std::strcmp(kernel.name, name) == 0) {
      return &kernel;
    }
  }
  return nullptr;
}

}  // namespace

// Whether there is a kernel of this name.
VAMANA_EXPORT int vamana_host_has_kernel(const char* name) { return find(name) != nullptr; }

// Name of a kernel by its number, or null if there are fewer.
VAMANA_EXPORT const char* vamana_host_kernel_name(int number) {
  return number < static_cast<int>(std::size(kKernels)) ? kKernels[number].name : nullptr;
}

// Does on the calling thread what a launch of the kernel does, with the host's addresses in its
// parameter. Returns an Outcome; vamana_host_error tells more. Any number of threads may call.
VAMANA_EXPORT int vamana_host_launch(const char* name, const void* parameters) {
  const Kernel* kernel = find(name);
  if (kernel == nullptr) {
    last_error = std::string("no kernel ") + name;
    return kUnknownKernel;
  }
  last_error.clear();
  Outcome outcome = kernel->launch(parameters);
  if (outcome == kTrapped) {
    last_error = "trapped";
  }
  return outcome;
}

// Why the calling thread's last launch failed; empty if it did not. Valid until its next launch.
VAMANA_EXPORT const char* vamana_host_error() { return last_error.c_str(); }
