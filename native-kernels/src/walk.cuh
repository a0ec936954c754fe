// The walk: greedy search of one item by one thread block, whole batches in one launch (BANG,
// algorithm 2, without its round trips to the host).
#pragma once

#include <cstdint>

#include "cta.cuh"
#include "walk/prepare.cuh"
#include "walk/result.cuh"
#include "walk/state.cuh"
#include "walk/steps.cuh"
#include "walk/team_steps.cuh"

namespace vamana {

template <uint32_t POLICY, int WARPS>
__device__ __forceinline__ void walk_items(const Walk& parameters) {
  WalkState<POLICY, WARPS> state(parameters, block_memory());
  while (take_item(state)) {
    prepare(state);
    walk(state);
    finish(state);
    cta_sync<WARPS>();
  }
}

}  // namespace vamana
