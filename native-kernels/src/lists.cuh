// Search of inverted lists: one item by one thread block, whole batches in one launch. Blocks that share a
// multiprocessor search one list after the other, a block that has one to itself several at once; where there are
// multiprocessors to spare, several such blocks search for one item. All do what
// dev.vamana.search.ListSearch does for the best hits of a query.
#pragma once

#include <cstdint>

#include "cta.cuh"
#include "lists/order.cuh"
#include "lists/prepare.cuh"
#include "lists/residual.cuh"
#include "lists/scan.cuh"
#include "lists/score.cuh"
#include "lists/state.cuh"
#include "lists/waves.cuh"

namespace vamana {

// Searches one list: at once, or if more candidates are left than there is room for part by part, each with
// the limit that the last one leaves.
template <class S>
__device__ __forceinline__ void search_list(S& s, uint32_t list) {
  const OpenList open = open_list(s, list);
  // without limit and filter all entries are candidates
  const bool all = s.limit == infinite() && s.control.item.accepted == 0;
  uint32_t end = all && open.count > kListCandidates ? kListCandidates : open.count;
  for (uint32_t from = 0; from < open.count;) {
    scan_entries(s, open, from, end);
    const uint32_t count = s.control.candidate_count;
    if (count <= kListCandidates) {
      if (count > 0) {
        score_candidates(s, open, count);
      }
      from = end;
    }
    if (from < open.count) {
      end = from + kListCandidates < open.count ? from + kListCandidates : open.count;
      cta_sync<S::kWarps>();
      if (threadIdx.x == 0) {
        s.control.candidate_count = 0;
      }
      cta_sync<S::kWarps>();
    }
  }
}

// Searches lists, nearest first, until the last ones have brought few hits. Returns how many.
template <class S>
__device__ __forceinline__ uint32_t search_lists(S& s) {
  uint32_t probed = 0;
  while (true) {
    const uint32_t list = nearest_list(s);
    const uint32_t hits = s.control.all_hits;
    if (list == kUnusedSlot || s.control.visited >= s.control.item.visit_limit ||
        s.control.flags != 0) {
      return probed;
    }
    if (s.limit < infinite() && probed >= kListProbes &&
        list_ends(probed, hits - s.history[list_window(probed)], s.width)) {
      return probed;
    }
    if (threadIdx.x == 0) {
      s.history[probed] = hits;
    }
    probed++;
    take_list(s, list);
    search_list(s, list);
  }
}

template <class S>
__device__ __forceinline__ void write_hits(const S& s, uint32_t probed) {
  if (warp_id() != 0) {
    return;
  }
  const Item& item = s.control.item;
  Result* result = reinterpret_cast<Result*>(item.result);
  uint32_t* ordinals = reinterpret_cast<uint32_t*>(result + 1);
  float* scores = reinterpret_cast<float*>(ordinals + item.capacity);
  uint32_t wanted = item.k < item.capacity ? item.k : item.capacity;
  wanted = s.control.flags != 0 ? 0 : s.best_size < wanted ? s.best_size : wanted;
  for (uint32_t i = lane_id(); i < wanted; i += 32) {
    ordinals[i] = key_ordinal(s.best[i]);
    scores[i] = -key_distance(s.best[i]);
  }
  if (lane_id() == 0) {
    result->visited = s.control.visited;
    result->flags = s.control.flags | (s.control.visited < item.visit_limit ? kComplete : 0u);
    result->iterations = probed;
    result->count = wanted;
  }
}

// The query as all steps need it.
template <class S>
__device__ __forceinline__ void prepare_query(S& s) {
  load_list_query(s);
  rotate(s);
  make_table(s);
}

// The same for blocks of many warps, apart, so that it takes no registers of what follows.
template <class S>
__device__ __noinline__ void prepare_query_apart(const ListSearch& search) {
  S s(search, block_memory());
  prepare_query(s);
}

template <uint32_t FORMAT, int WARPS, uint32_t CODES>
__device__ __forceinline__ void search_list_items(const ListSearch& parameters) {
  ListState<FORMAT, WARPS, CODES> state(parameters, block_memory());
  while (take_list_item(state)) {
    state.width = state.control.item.beam;
    state.best_size = 0;
    state.limit = infinite();
    if constexpr (ListState<FORMAT, WARPS, CODES>::kWaves) {
      prepare_query_apart<ListState<FORMAT, WARPS, CODES>>(parameters);
    } else {
      prepare_query(state);
    }
    uint32_t probed;
    if constexpr (ListState<FORMAT, WARPS, CODES>::kWaves) {
      measure_waves(state);
      if (state.wave->member != 0) {
        help_waves(state);
        break;
      }
      probed = lead_waves(state);
    } else {
      order_lists(state);
      probed = search_lists(state);
    }
    write_hits(state, probed);
    cta_sync<WARPS>();
  }
  if constexpr (ListState<FORMAT, WARPS, CODES>::kWaves) {
    if (has_team(parameters) && warp_id() == 0) {
      leave_team(state);
    }
  }
}

}  // namespace vamana
