// The beginning of a walk: the item, its query, the distance table and an empty visited set.
#pragma once

#include <cstdint>

#include "asymmetric.cuh"
#include "byte_dot.cuh"
#include "cta.cuh"
#include "exact.cuh"
#include "query.cuh"
#include "walk/state.cuh"

namespace vamana {

// Takes the next item of the launch, with an empty visited set; false if there is none left. Ends
// with a barrier.
template <class W>
__device__ __forceinline__ bool take_item(W& w) {
  uint32_t next = blockIdx.x;
  if (w.begun) {
    if (threadIdx.x == 0) {
      w.control.next =
          gridDim.x + atomicAdd(reinterpret_cast<uint32_t*>(w.walk.counter), 1u);
    }
    cta_sync<W::kWarps>();
    next = w.control.next;
  }
  w.begun = true;
  if (next >= w.walk.count) {
    return false;
  }
  if (warp_id() == 0) {
    copy_host_words(w.control.item, item_address(w.walk.items, w.walk.flags, next));
    __syncwarp();
    copy_words(w.control.segment, reinterpret_cast<const void*>(w.control.item.segment));
    if (lane_id() == 0) {
      w.control.flags = 0;
      w.control.fresh_count = 0;
      w.control.key_count = 0;
      w.control.merge_count = 0;
    }
  }
  for (uint32_t i = threadIdx.x; i < w.walk.visited_slots / 4; i += W::kThreads) {
    reinterpret_cast<uint4*>(w.visited)[i] = {0, 0, 0, 0};
  }
  cta_sync<W::kWarps>();
  return true;
}

// The query as bytes: its own bytes, or bytes of the query minus the center of the segment's copies.
template <class W>
__device__ __forceinline__ void load_bytes(W& w) {
  const Segment& segment = w.control.segment;
  const Item& item = w.control.item;
  const bool copies = segment.vector_facts != 0;
  const bool euclidean = segment.similarity == kEuclidean;
  const float* center = reinterpret_cast<const float*>(segment.vector_center);
  uint32_t squares = 0;
  float norm2 = 0;
  float product = 0;  // of Euclidean distances, which need none, how many components are not whole
  float largest = 0;
  read_query<W::kThreads>(segment, item, w.padded, [&](uint32_t d, float q) {
    if (copies) {
      const float c = d < segment.dimension ? __ldg(center + d) : 0;
      q = euclidean ? q - c : q;
      norm2 = fmaf(q, q, norm2);
      product = euclidean ? product + (is_whole(q) ? 0 : 1) : fmaf(q, c, product);
      largest = fmaxf(largest, fabsf(q));
    } else {
      squares += static_cast<uint32_t>(static_cast<int32_t>(q) * static_cast<int32_t>(q));
    }
    w.query[query_place<kByte>(d, w.padded)] = q;
  });
  float step = kWholeBytes;
  bool whole = false;
  if (copies) {
    norm2 = cta_sum<W::kWarps>(norm2, w.keys);
    product = cta_sum<W::kWarps>(product, w.keys);
    step = query_step(cta_max<W::kWarps>(largest, w.keys));
    // not a number counts as not whole, too
    whole = segment.whole_copies != 0 && product == 0;
    // of integers below 2^24, which floats hold
    w.query_norm2 = whole ? __uint_as_float(static_cast<uint32_t>(norm2)) : norm2;
    if (threadIdx.x == 0) {
      w.control.query = byte_query(segment.similarity, step, euclidean ? norm2 : product, norm2);
    }
  } else {
    w.query_norm2 = __uint_as_float(cta_sum<W::kWarps>(squares, w.keys));
  }
  if (threadIdx.x == 0) {
    w.control.whole = whole ? 1 : 0;
  }
  if (whole) {
    pack_whole_query<W::kThreads>(w.query, w.padded);
  } else {
    pack_query<W::kThreads>(w.query, w.padded, step);
  }
  cta_sync<W::kWarps>();
}

// The query as floats; for tables of cosines of length 1.
template <class W>
__device__ __forceinline__ void load_floats(W& w) {
  const Segment& segment = w.control.segment;
  const Item& item = w.control.item;
  const bool unit = W::kExact == false && segment.similarity == kCosine;
  float norm2 = 0;
  read_query<W::kThreads>(segment, item, w.padded, [&](uint32_t d, float q) {
    w.query[W::kExact ? query_place<W::kFormat>(d, w.padded) : d] = q;
    norm2 = fmaf(q, q, norm2);
  });
  norm2 = cta_sum<W::kWarps>(norm2, w.keys);
  w.query_norm2 = norm2;
  if (unit && norm2 > 0) {
    float inverse = 1 / sqrtf(norm2);
    for (uint32_t d = threadIdx.x; d < segment.dimension; d += W::kThreads) {
      w.query[d] *= inverse;
    }
    cta_sync<W::kWarps>();
  }
}

// Query and table.
template <class W>
__device__ __forceinline__ void prepare(W& w) {
  const Segment& segment = w.control.segment;
  w.padded = up16(segment.dimension);
  w.list.size = 0;
  w.list.cursor = 0;
  w.visited_count = 0;
  w.expanded_count = 0;
  w.iterations = 0;
  if constexpr (W::kPolicy == kExactByte) {
    load_bytes(w);
  } else {
    load_floats(w);
  }
  if constexpr (W::kExact == false) {
    const bool euclidean = segment.similarity == kEuclidean;
    if constexpr (W::kPolicy == kTableHalf) {
      float scale = table_scale<W::kWarps>(segment, euclidean, w.query, &w.control.table_scale);
      fill_table<W::kWarps>(segment, euclidean, w.query, scale,
                            reinterpret_cast<uint16_t*>(w.table));
    } else {
      fill_table<W::kWarps>(segment, euclidean, w.query, reinterpret_cast<float*>(w.table));
    }
    cta_sync<W::kWarps>();
  }
}

}  // namespace vamana
