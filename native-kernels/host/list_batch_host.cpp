#include "list_batch_host.h"

#include <cstring>

#include "simt/fibers.h"
#include "simt/simt.h"

// sources of kernels, which another compiler checks
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include "list_batch/estimate.cuh"
#include "list_batch/items.cuh"
#include "list_batch/measure.cuh"
#include "list_batch/order.cuh"
#include "list_batch/pairs.cuh"
#include "list_batch/prepare.cuh"
#pragma GCC diagnostic pop

namespace vamana {

namespace {

constexpr uint32_t kBlocks = 3;
constexpr uint32_t kSharedBytes = 227 << 10;
constexpr uint32_t kItemThreads = kBatchItemWarps * 32;
constexpr uint32_t kRestThreads = kBatchRestWarps * 32;

std::string check(const ListBatch& batch) {
  const Lists& lists = batch_lists(batch);
  if (batch.memory % 256 != 0 || batch.search.count < 1 || (batch.search.flags & ~kSideBySide) != 0) {
    return "memory, items or flags";
  }
  if (lists.bits != 1 || lists.lists != batch.lists || lists.padded != batch.padded ||
      batch.padded % 64 != 0 || batch.padded > kMaxBatchPadded) {
    return "lists of other codes or sizes";
  }
  if (batch.kept < 1 || batch.kept > kMaxBatchKept || batch.room > kMaxBatchRoom ||
      batch.wave > kBatchWave || batch.rows < 1 || batch.from >= batch.search.count) {
    return "kept " + std::to_string(batch.kept) + ", room " + std::to_string(batch.room) +
           ", wave " + std::to_string(batch.wave);
  }
  for (uint32_t i = 0; i < batch.search.count; i++) {
    const Item& item = *reinterpret_cast<const Item*>(item_address(batch.search, i));
    if (item.segment != batch.segment || item.accepted != 0 || item.beam < 1 ||
        item.beam > batch.search.width) {
      return "item " + std::to_string(i);
    }
  }
  return "";
}

struct Step {
  const char* name;
  uint32_t blocks;
  uint32_t threads;
  void (*run)(const ListBatch&);
};

#define ITEM_STEPS(name, format)                                                                  \
  {"prepare_" #name, kBlocks, kItemThreads,                                                       \
   [](const ListBatch& batch) { prepare_batch<format>(batch, block_memory()); }},                         \
      {"first_" #name, kBlocks, kItemThreads,                                                     \
       [](const ListBatch& batch) { search_first<format>(batch, block_memory()); }},                      \
      {"score_" #name, kBlocks, kItemThreads,                                                     \
       [](const ListBatch& batch) { score_batch<format>(batch, block_memory()); }}, {                     \
    "rest_" #name, kBlocks, kRestThreads, [](const ListBatch& batch) { search_rest<format>(batch); } \
  }

constexpr Step kSteps[] = {
    ITEM_STEPS(float, kFloat32),
    ITEM_STEPS(byte, kByte),
    {"items", kBlocks, kFetchThreads, [](const ListBatch& batch) { fetch_items(batch); }},
    {"queries", kBlocks, kFetchThreads, [](const ListBatch& batch) { fetch_queries(batch); }},
    {"measure", kBlocks, kMeasureThreads,
     [](const ListBatch& batch) { measure_batch(batch, block_memory()); }},
    {"keep", kBlocks, kKeepWarps * 32, [](const ListBatch& batch) { keep_batch(batch, block_memory()); }},
    {"count", kBlocks, kPairThreads, [](const ListBatch& batch) { count_batch(batch); }},
    {"scan", 1, kScanThreads, [](const ListBatch& batch) { scan_batch(batch, block_memory()); }},
    {"place", kBlocks, kPairThreads, [](const ListBatch& batch) { place_batch(batch); }},
    {"estimate", kBlocks, kEstimateThreads,
     [](const ListBatch& batch) { estimate_batch(batch, block_memory()); }},
};

}  // namespace

std::string list_batch_host(const char* name, const ListBatch& batch) {
  const std::string wrong = check(batch);
  if (!wrong.empty()) {
    return wrong;
  }
  for (const Step& step : kSteps) {
    if (std::strcmp(step.name, name) == 0) {
      const uint64_t seed = batch.search.count * 31u + batch.first;
      const simt::Grid grid = {step.blocks, step.threads / 32, kSharedBytes, seed, false};
      return simt::launch([&] { step.run(batch); }, grid);
    }
  }
  return std::string("no step ") + name;
}

}  // namespace vamana
