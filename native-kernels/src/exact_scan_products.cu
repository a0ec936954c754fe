// Approximate products of all queries with the candidates of a range of tiles. Appends
// candidates that reach a query's threshold to its buffer, and writes nothing else.
//
// Launch: any number of blocks, kProductThreads threads, shared memory for kStages stages. Reads
// targets, copies, thresholds and biases, which are there for whole tiles.
#include "cta.cuh"
#include "exact_scan/products.cuh"

namespace {

using namespace vamana;

constexpr uint32_t kStages = kExactStages;

// Blocks of a multiprocessor: as many as need no local memory.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1000
constexpr int kBlocks = 1;
#else
constexpr int kBlocks = 2;
#endif

// Parts of all tiles that this block works on, one after the other.
struct Cursor {
  uint32_t item;
  uint32_t part;
};

__device__ __forceinline__ void advance(Cursor& cursor, uint32_t parts) {
  if (++cursor.part == parts) {
    cursor.part = 0;
    cursor.item += gridDim.x;
  }
}

__device__ __forceinline__ void request(const ExactScan& p, Stage& stage, const Cursor& cursor,
                                        uint32_t query_tiles, uint32_t items) {
  if (cursor.item < items) {
    const uint32_t query = cursor.item % query_tiles * kExactTile;
    const uint32_t row = exact_tile(p, p.first_tile + cursor.item / query_tiles) * kExactTile;
    const uint64_t part = cursor.part * kExactDepth;
    copy_tile(shared_address(stage.targets),
              reinterpret_cast<const uint8_t*>(p.targets) +
                  static_cast<uint64_t>(query) * p.copy_stride + part,
              p.copy_stride);
    copy_tile(shared_address(stage.copies),
              reinterpret_cast<const uint8_t*>(p.copies) +
                  static_cast<uint64_t>(row) * p.copy_stride + part,
              p.copy_stride);
    if (cursor.part == 0 && threadIdx.x < 2 * kExactTile / 4) {
      const uint32_t i = threadIdx.x * 4;
      if (i < kExactTile) {
        copy_async(shared_address(&stage.thresholds[i]),
                   reinterpret_cast<const uint32_t*>(p.thresholds) + query + i);
      } else {
        copy_async(shared_address(&stage.biases[i - kExactTile]),
                   reinterpret_cast<const uint32_t*>(p.biases) + row + i - kExactTile);
      }
    }
  }
  commit_copies();
}

template <Format FORMAT>
__device__ __forceinline__ void products(const ExactScan& p) {
  Stage* stages = reinterpret_cast<Stage*>(block_memory());
  const uint32_t query_tiles = (p.query_count + kExactTile - 1) / kExactTile;
  const uint32_t items = query_tiles * p.tile_count;
  const uint32_t parts = p.copy_stride / kExactDepth;
  Cursor ahead{blockIdx.x, 0};
  Cursor now{blockIdx.x, 0};
#pragma unroll
  for (uint32_t s = 0; s + 1 < kStages; s++) {
    request(p, stages[s], ahead, query_tiles, items);
    advance(ahead, parts);
  }
  Block<FORMAT> block;
  uint32_t slot = 0;
  while (now.item < items) {
    await_copies<kStages - 2>();
    __syncthreads();
    // everybody is done with the stage before this one, which is the one to be filled next
    const uint32_t free = slot == 0 ? kStages - 1 : slot - 1;
    request(p, stages[free], ahead, query_tiles, items);
    advance(ahead, parts);
    if (now.part == 0) {
      block.begin(stages[slot]);
    }
    block.add(stages[slot]);
    if (now.part == parts - 1) {
      block.append(p, now.item % query_tiles * kExactTile,
                   exact_tile(p, p.first_tile + now.item / query_tiles) * kExactTile);
    }
    advance(now, parts);
    slot = slot + 1 == kStages ? 0 : slot + 1;
  }
  await_copies<0>();
}

}  // namespace

#define EXACT_PRODUCTS(name, format)                                                 \
  extern "C" __global__ void __launch_bounds__(kProductThreads, kBlocks)             \
      exact_products_##name(const __grid_constant__ ExactScan p) {                   \
    products<Format::format>(p);                                                     \
  }

EXACT_PRODUCTS(half, kHalf)
EXACT_PRODUCTS(unsigned, kUnsigned)
EXACT_PRODUCTS(signed, kSigned)
