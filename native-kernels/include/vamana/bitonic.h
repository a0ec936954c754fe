// Batcher's bitonic network.
#pragma once

#include <cstdint>

#include "vamana/platform.h"

namespace vamana {

// Whether element e keeps the smaller of the pair (e, e ^ stride) while runs of run elements are
// made; run and stride are powers of two, stride < run.
VAMANA_HD bool keeps_smaller(uint32_t e, uint32_t run, uint32_t stride) {
  return ((e & stride) == 0) == ((e & run) == 0);
}

// The form whose pairs all ascend, so that elements beyond the end count as the largest without
// being there. Pair p of a step: the first step of a run mirrors, the others are strided.
VAMANA_HD void ascending_pair(uint32_t p, uint32_t run, uint32_t stride, uint32_t* low,
                              uint32_t* high) {
  uint32_t block = (p & ~(stride - 1)) << 1;
  uint32_t within = p & (stride - 1);
  *low = block | within;
  *high = 2 * stride == run ? block + run - 1 - within : *low + stride;
}

}  // namespace vamana
