// The result of an item's walk, for the host.
#pragma once

#include <cstdint>

#include "cta.cuh"
#include "walk/rerank.cuh"
#include "walk/state.cuh"
#include "vamana/order.h"

namespace vamana {

template <class W>
__device__ __forceinline__ void write_result(W& w, const Item& item, uint32_t flags,
                                             uint32_t wanted, bool accepted_only) {
  if (warp_id() != 0) {
    return;
  }
  Result* result = reinterpret_cast<Result*>(item.result);
  uint32_t* ordinals = reinterpret_cast<uint32_t*>(result + 1);
  float* scores = reinterpret_cast<float*>(ordinals + item.capacity);
  wanted = wanted < item.capacity ? wanted : item.capacity;
  uint32_t written = 0;
  if ((flags & (kCorrupt | kOverflow)) == 0) {
    for (uint32_t from = 0; from < w.list.size && written < wanted; from += 32) {
      uint32_t i = from + lane_id();
      uint64_t key = i < w.list.size ? w.list.keys[i] : kNoKey;
      bool keep = i < w.list.size && (accepted_only == false || accepts(w, key_ordinal(key)));
      uint32_t kept = __ballot_sync(kAllLanes, keep);
      uint32_t slot = written + __popc(kept & lanes_below());
      if (keep && slot < wanted) {
        ordinals[slot] = key_ordinal(key);
        scores[slot] = -key_distance(key);
      }
      written += __popc(kept);
    }
  }
  __syncwarp();
  if (lane_id() == 0) {
    result->visited = w.visited_count;
    result->flags = flags;
    result->iterations = w.iterations;
    // the host reads a result when it sees its count, while other walks go on
    __threadfence_system();
    *reinterpret_cast<volatile uint32_t*>(&result->count) = written < wanted ? written : wanted;
  }
}

template <class W>
__device__ __forceinline__ void finish(W& w) {
  const Segment& segment = w.control.segment;
  const Item& item = w.control.item;
  uint32_t flags = w.control.flags | (w.complete ? kComplete : 0u);
  const bool exact_keys =
      W::kPolicy == kExactFloat32 ||
      (W::kPolicy == kExactByte && (segment.byte_scoring != 0 || w.control.whole != 0));
  uint32_t wanted = item.k;
  bool accepted_only = exact_keys;
  if (w.control.flags == 0 && exact_keys == false) {
    if (segment.raw != 0) {
      rerank(w);
    } else {
      flags |= kApproximate;
      wanted = item.capacity;
      accepted_only = true;
    }
  }
  write_result(w, item, flags, wanted, accepted_only);
}

}  // namespace vamana
