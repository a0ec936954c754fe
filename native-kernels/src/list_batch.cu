// Searches of the inverted lists of one segment by many items together.
#include "list_batch/estimate.cuh"
#include "list_batch/items.cuh"
#include "list_batch/measure.cuh"
#include "list_batch/order.cuh"
#include "list_batch/pairs.cuh"
#include "list_batch/prepare.cuh"

// a multiprocessor of compute capability 7.5 holds 1,024 threads
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#define VAMANA_PLACE_BLOCKS 4
#else
#define VAMANA_PLACE_BLOCKS 6
#endif

#define VAMANA_BATCH_ITEMS(name, format, blocks)                                     \
  extern "C" __global__ void __launch_bounds__(64, blocks)                           \
      list_batch_prepare_##name(const __grid_constant__ vamana::ListBatch batch) {   \
    vamana::prepare_batch<vamana::format>(batch, vamana::block_memory());            \
  }                                                                                  \
  extern "C" __global__ void __launch_bounds__(64, blocks)                           \
      list_batch_first_##name(const __grid_constant__ vamana::ListBatch batch) {     \
    vamana::search_first<vamana::format>(batch, vamana::block_memory());             \
  }                                                                                  \
  extern "C" __global__ void __launch_bounds__(64, blocks)                           \
      list_batch_score_##name(const __grid_constant__ vamana::ListBatch batch) {     \
    vamana::score_batch<vamana::format>(batch, vamana::block_memory());              \
  }                                                                                  \
  extern "C" __global__ void __launch_bounds__(128, 5)                               \
      list_batch_rest_##name(const __grid_constant__ vamana::ListBatch batch) {      \
    vamana::search_rest<vamana::format>(batch);                                      \
  }

VAMANA_BATCH_ITEMS(float, kFloat32, 12)
VAMANA_BATCH_ITEMS(byte, kByte, 12)

extern "C" __global__ void __launch_bounds__(vamana::kFetchThreads)
    list_batch_items(const __grid_constant__ vamana::ListBatch batch) {
  vamana::fetch_items(batch);
}

extern "C" __global__ void __launch_bounds__(vamana::kFetchThreads)
    list_batch_queries(const __grid_constant__ vamana::ListBatch batch) {
  vamana::fetch_queries(batch);
}

extern "C" __global__ void __launch_bounds__(vamana::kMeasureThreads, 2)
    list_batch_measure(const __grid_constant__ vamana::ListBatch batch) {
  vamana::measure_batch(batch, vamana::block_memory());
}

extern "C" __global__ void __launch_bounds__(vamana::kKeepWarps * 32)
    list_batch_keep(const __grid_constant__ vamana::ListBatch batch) {
  vamana::keep_batch(batch, vamana::block_memory());
}

extern "C" __global__ void __launch_bounds__(vamana::kPairThreads)
    list_batch_count(const __grid_constant__ vamana::ListBatch batch) {
  vamana::count_batch(batch);
}

extern "C" __global__ void __launch_bounds__(vamana::kScanThreads)
    list_batch_scan(const __grid_constant__ vamana::ListBatch batch) {
  vamana::scan_batch(batch, vamana::block_memory());
}

extern "C" __global__ void __launch_bounds__(vamana::kPairThreads, VAMANA_PLACE_BLOCKS)
    list_batch_place(const __grid_constant__ vamana::ListBatch batch) {
  vamana::place_batch(batch);
}

extern "C" __global__ void __launch_bounds__(vamana::kEstimateThreads, 5)
    list_batch_estimate(const __grid_constant__ vamana::ListBatch batch) {
  vamana::estimate_batch(batch, vamana::block_memory());
}
