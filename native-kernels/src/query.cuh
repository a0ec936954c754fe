// Components of an item's query, as floats.
#pragma once

#include <cstdint>

#include "vamana/types.h"

namespace vamana {

__device__ __forceinline__ float query_component(const Segment& segment, const Item& item,
                                                 uint32_t d) {
  return segment.byte_scoring != 0
             ? static_cast<float>(reinterpret_cast<const int8_t*>(item.query)[d])
             : reinterpret_cast<const float*>(item.query)[d];
}

}  // namespace vamana
