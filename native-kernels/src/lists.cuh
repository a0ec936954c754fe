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

// The same for blocks of many warps, apart, so that it takes no registers of what follows. Ends with a barrier, since
// the first thread alone has kept what all read.
template <class S>
__device__ __noinline__ void prepare_query_apart(const ListSearch& search) {
  S s(search, block_memory());
  prepare_query(s);
  cta_sync<S::kWarps>();
}

// The next item, for blocks of many warps; false if there is none left.
template <class S>
__device__ __noinline__ bool take_item_apart(const ListSearch& search, bool begun) {
  S s(search, block_memory());
  s.begun = begun;
  const bool taken = take_list_item(s);
  if (taken) {
    keep_field<S>(s.width, s.control.item.beam);
  }
  return taken;
}

template <class S>
__device__ __noinline__ void write_hits_apart(const ListSearch& search) {
  S s(search, block_memory());
  s.best_size = s.control.best_size;
  write_hits(s, s.control.probed);
}

// Searches several lists of an item at once. All steps are functions of their own, which find what they need in shared
// memory: nothing is in registers between them.
template <class S>
__device__ __forceinline__ void search_items_in_waves(const ListSearch& search) {
  bool begun = false;
  while (take_item_apart<S>(search, begun)) {
    begun = true;
    prepare_query_apart<S>(search);
    measure_waves<S>(search);
    if (S(search, block_memory()).wave->member != 0) {
      help_waves<S>(search);
      break;
    }
    lead_waves<S>(search);
    write_hits_apart<S>(search);
    cta_sync<S::kWarps>();
  }
  if (has_team(search) && warp_id() == 0) {
    leave_team(S(search, block_memory()));
  }
}

template <uint32_t FORMAT, int WARPS, uint32_t CODES>
__device__ __forceinline__ void search_list_items(const ListSearch& parameters) {
  using State = ListState<FORMAT, WARPS, CODES>;
  if constexpr (State::kWaves) {
    search_items_in_waves<State>(parameters);
  } else {
    State state(parameters, block_memory());
    while (take_list_item(state)) {
      state.width = state.control.item.beam;
      state.best_size = 0;
      state.limit = infinite();
      prepare_query(state);
      order_lists(state);
      const uint32_t probed = search_lists(state);
      write_hits(state, probed);
      cta_sync<WARPS>();
    }
  }
}

}  // namespace vamana
