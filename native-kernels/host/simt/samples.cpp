// Small kernels with and without races, to test what finds races.
#include <cstring>
#include <string>

#include "simt.h"

#include "../export.h"
#include "fibers.h"

namespace {

using namespace vamana;

thread_local std::string last_error;
// so that no value is left out
thread_local volatile uint32_t kept;

uint32_t* words() { return reinterpret_cast<uint32_t*>(block_memory()); }

uint32_t threads() { return 64; }

// Each thread reads what one of the other warp has written.
template <class Between>
void other_warp(Between between) {
  words()[threadIdx.x] = threadIdx.x;
  between();
  kept = words()[(threadIdx.x + 32) % threads()];
}

// Each thread reads what the next lane has written.
template <class Between>
void next_lane(Between between) {
  const uint32_t warp = threadIdx.x & ~31u;
  words()[threadIdx.x] = threadIdx.x;
  between();
  kept = words()[warp + (threadIdx.x + 1) % 32];
}

// The last warp reads what the first one has written before or after it arrived.
void pair(bool late) {
  if (threadIdx.x < 32) {
    if (late) {
      pair_arrive();
    }
    words()[threadIdx.x] = 1;
    if (late == false) {
      pair_arrive();
    }
  } else {
    pair_wait();
    kept = words()[threadIdx.x % 32];
  }
}

// The first word is read by all, then written by one.
void overwrite(bool waits) {
  kept = words()[0];
  if (waits) {
    __syncthreads();
  }
  if (threadIdx.x == 40) {
    words()[0] = 1;
  }
}

// All threads count, and one reads the sum.
void count(bool waits) {
  atomicAdd(words(), 1u);
  if (waits) {
    __syncthreads();
  }
  if (threadIdx.x == 7) {
    kept = words()[0];
  }
}

struct Sample {
  const char* name;
  void (*run)();
};

constexpr Sample kSamples[] = {
    {"other warp", [] { other_warp([] {}); }},
    {"other warp, __syncwarp", [] { other_warp([] { __syncwarp(); }); }},
    {"other warp, barrier", [] { other_warp([] { __syncthreads(); }); }},
    {"next lane", [] { next_lane([] {}); }},
    {"next lane, vote", [] { next_lane([] { __any_sync(0xFFFFFFFFu, true); }); }},
    {"next lane, __syncwarp", [] { next_lane([] { __syncwarp(); }); }},
    {"next lane, barrier", [] { next_lane([] { __syncthreads(); }); }},
    {"pair", [] { pair(false); }},
    {"pair, late", [] { pair(true); }},
    {"overwrite", [] { overwrite(false); }},
    {"overwrite, barrier", [] { overwrite(true); }},
    {"count", [] { count(false); }},
    {"count, barrier", [] { count(true); }},
    {"exchange",
     [] {
       atomicExch(words(), threadIdx.x);
       kept = words()[0];
     }},
    {"bytes of a word", [] { block_memory()[threadIdx.x] = 1; }},
    {"same value", [] { words()[0] = 1; }},
};

}  // namespace

// Runs a sample by name in a block of two warps. Returns why it failed, valid until the thread's next call, or null.
VAMANA_EXPORT const char* vamana_simt_sample(const char* name, uint64_t seed) {
  last_error = std::string("no sample ") + name;
  for (const Sample& sample : kSamples) {
    if (std::strcmp(sample.name, name) == 0) {
      last_error = simt::launch([&] { sample.run(); }, {1, 2, 4096, seed, false});
    }
  }
  return last_error.empty() ? nullptr : last_error.c_str();
}
