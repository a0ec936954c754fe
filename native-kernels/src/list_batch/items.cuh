// The steps in which a block takes an item after the other: its first list, and the scores of the candidates of a
// wave.
#pragma once

#include <cstdint>

#include "cta.cuh"
#include "lists.cuh"
#include "list_batch/memory.cuh"

namespace vamana {

template <uint32_t FORMAT>
using BatchState = ListState<FORMAT, kBatchItemWarps, kListBits>;

// Begins with an item. Ends with a barrier.
template <class S>
__device__ __forceinline__ void load_batch_item(S& s, const ListBatch& batch, const Item& item) {
  if (warp_id() == 0) {
    copy_words(s.control.item, &item);
    copy_descriptor(s, batch.segment);
    if (lane_id() == 0) {
      s.control.flags = 0;
      s.control.candidate_count = 0;
      s.control.visited = 0;
      s.control.all_hits = 0;
    }
  }
  cta_sync<S::kWarps>();
  s.width = s.control.item.beam;
  s.best_size = 0;
  s.limit = infinite();
  s.probed = 0;
}

// Puts back an item and its query, which the first step has found. A barrier comes before the query is read.
template <class S>
__device__ __forceinline__ void load_known_item(S& s, const ListBatch& batch,
                                                const BatchMemory& memory, uint32_t item) {
  load_batch_item(s, batch, memory.items[item].item);
  const uint32_t padded = up16(s.control.segment.dimension);
  const float* query = memory.queries + uint64_t{item} * padded;
  for (uint32_t d = threadIdx.x; d < padded; d += S::kThreads) {
    s.query[d] = query[d];
  }
  s.query_norm2 = memory.items[item].query_norm2;
}

// Puts back what an earlier step has found, or left empty.
template <class S>
__device__ __forceinline__ void load_rotated(S& s, const BatchMemory& memory, uint32_t item) {
  const float* rotated = memory.rotated + uint64_t{item} * s.control.lists.padded;
  for (uint32_t d = threadIdx.x; d < s.control.lists.padded; d += S::kThreads) {
    s.rotated[d] = rotated[d];
  }
  s.rotated_norm2 = memory.items[item].rotated_norm2;
}

// Puts back all that is known of an item which an earlier step has begun, its rotated query apart, and forgets its
// candidates. Ends with a barrier.
template <class S>
__device__ __forceinline__ void resume_item(S& s, const ListBatch& batch, const BatchMemory& memory,
                                            uint32_t item) {
  BatchItem& known = memory.items[item];
  load_known_item(s, batch, memory, item);
  const uint64_t* best = memory.best + uint64_t{item} * batch.search.width;
  for (uint32_t i = threadIdx.x; i < known.best_size; i += S::kThreads) {
    s.best[i] = best[i];
  }
  if (threadIdx.x == 0) {
    s.control.best_size = known.best_size;
    s.control.limit = known.limit;
    s.control.probed = known.probed;
    s.control.visited = known.visited;
    s.control.all_hits = known.all_hits;
    s.control.flags = known.flags;
    known.candidates = 0;
    known.most = kBatchWave;
  }
  cta_sync<S::kWarps>();
}

// The fields of the state become what the block's shared memory has of them.
template <class S>
__device__ __forceinline__ void take_shared_fields(S& s) {
  s.best_size = s.control.best_size;
  s.limit = s.control.limit;
  s.probed = s.control.probed;
}

// Ends an item, or keeps what is known of it for the next wave. By all threads, behind a barrier; `ended` says
// whether the rule or a limit has ended its search.
template <class S>
__device__ __forceinline__ void leave_item(S& s, const ListBatch& batch, const BatchMemory& memory,
                                           uint32_t item, bool ended) {
  BatchItem& known = memory.items[item];
  const bool last = s.probed >= known.lists;
  const bool all = known.all_lists != 0;
  cta_sync<S::kWarps>();
  if (ended || (last && all)) {
    write_hits(s, s.probed);
    if (threadIdx.x == 0) {
      known.ended = 1;
    }
    return;
  }
  if (last || last_wave(batch)) {
    if (threadIdx.x == 0) {
      leave_to_rest(batch, memory, item);
    }
    return;
  }
  uint64_t* best = memory.best + uint64_t{item} * batch.search.width;
  for (uint32_t i = threadIdx.x; i < s.best_size; i += S::kThreads) {
    best[i] = s.best[i];
  }
  if (threadIdx.x == 0) {
    known.limit = s.limit;
    known.best_size = s.best_size;
    known.visited = s.control.visited;
    known.all_hits = s.control.all_hits;
    known.flags = s.control.flags;
    known.probed = s.probed;
  }
}

// Estimates entries from..to-1 of a list, which are in one block: what the limit leaves open becomes candidates. As
// scan_entries, but a thread asks for its entries together. Ends with a barrier.
template <class S>
__device__ __forceinline__ void scan_block(S& s, const OpenList& open, uint32_t from, uint32_t to) {
  constexpr uint32_t kOwn = kListBlock / S::kThreads;
  const Lists& lists = s.control.lists;
  const ListColumns columns = list_columns(lists, open.address, open.places, from);
  const uint4* planes = reinterpret_cast<const uint4*>(s.planes);
  const uint2* codes = reinterpret_cast<const uint2*>(columns.words);
  int32_t products[kOwn];
  float facts[kOwn][3];
#pragma unroll
  for (uint32_t e = 0; e < kOwn; e++) {
    products[e] = 0;
    const uint32_t place = e * S::kThreads + threadIdx.x;
#pragma unroll
    for (uint32_t fact = 0; fact < 3; fact++) {
      facts[e][fact] = __uint_as_float(
          place < columns.together ? __ldg(columns.numbers + (fact + 1) * columns.together + place)
                                   : 0);
    }
  }
#pragma unroll 1
  for (uint32_t word = 0; word < lists.padded / 64; word++) {
    uint2 own[kOwn];
#pragma unroll
    for (uint32_t e = 0; e < kOwn; e++) {
      const uint32_t place = e * S::kThreads + threadIdx.x;
      own[e] = place < columns.together ? __ldg(codes + word * columns.together + place)
                                        : uint2{0, 0};
    }
    const uint4 low = planes[2 * word];
    const uint4 high = planes[2 * word + 1];
#pragma unroll
    for (uint32_t e = 0; e < kOwn; e++) {
      products[e] += plane_product(own[e].x, low) + plane_product(own[e].y, high);
    }
  }
#pragma unroll
  for (uint32_t e = 0; e < kOwn; e++) {
    const uint32_t i = from + e * S::kThreads + threadIdx.x;
    const ListEstimate estimate =
        list_estimate(open.heads, products[e], facts[e][0], facts[e][1], facts[e][2]);
    bool keep = i < to && estimate.bound <= s.limit;
    if (keep && valid_entry(s, open, columns, i, __ldg(columns.numbers + i - from)) == false) {
      atomicOr(&s.control.flags, static_cast<uint32_t>(kCorrupt));
      keep = false;
    }
    const uint32_t slot = append_slot(keep, &s.control.candidate_count);
    if (keep) {
      s.candidates[slot] = static_cast<uint64_t>(sortable(estimate.distance)) << 32 | i;
      s.bounds[slot] = estimate.bound;
    }
  }
  cta_sync<S::kWarps>();
}
static_assert(kListBlock <= kListCandidates, "room for a block");

// Searches entries of the nearest list, a block after the other, each with the limit that the last one leaves.
template <class S>
__device__ __forceinline__ void search_nearest(S& s, const OpenList& open, uint32_t from, uint32_t end) {
  for (; from < end; from += kListBlock) {
    scan_block(s, open, from, from + kListBlock < end ? from + kListBlock : end);
    const uint32_t count = s.control.candidate_count;
    if (count > 0) {
      score_candidates(s, open, count);
    }
    cta_sync<S::kWarps>();
    if (threadIdx.x == 0) {
      s.control.candidate_count = 0;
    }
    cta_sync<S::kWarps>();
  }
}

// The beginning of the nearest list of each item, all of whose entries may be candidates. If the list is the only one,
// or short enough, all of it.
template <uint32_t FORMAT>
__device__ __forceinline__ void search_first(const ListBatch& batch, uint8_t* shared) {
  const BatchMemory memory(batch);
  using S = BatchState<FORMAT>;
  const ListSearch search = batch_search(batch);
  S s(search, shared);
  for (uint32_t item = blockIdx.x; item < batch.search.count; item += gridDim.x) {
    const BatchItem& known = memory.items[item];
    if (known.ended != 0) {
      continue;
    }
    load_known_item(s, batch, memory, item);
    load_rotated(s, memory, item);
    cta_sync<S::kWarps>();
    if (threadIdx.x == 0) {
      memory.history[uint64_t{item} * batch.kept] = 0;
    }
    const OpenList open = open_list(s, memory.order[uint64_t{item} * batch.kept]);
    search_nearest(s, open, 0, known.lists < 2 ? open.count : batch_alone(open.count));
    s.probed = 1;
    cta_sync<S::kWarps>();
    const bool ended =
        s.control.flags != 0 || s.control.visited >= s.control.item.visit_limit;
    leave_item(s, batch, memory, item, ended);
    cta_sync<S::kWarps>();
  }
}

// Candidates of a wave in shared memory.
struct BatchCandidates {
  uint32_t* counts;   // for each place in the wave
  uint32_t* ends;     // of the places, while candidates are put there
  uint64_t* keys;     // estimate and entry, by place; later keys of scores, as ids
  uint32_t* ids;      // ordinals, by place and estimate
  float* bounds;      // as ids
  uint32_t* sources;  // numbers of candidates in the buffer, by place

  __device__ BatchCandidates(const ListBatch& batch, uint8_t* shared) {
    uint8_t* at = shared + batch_item_bytes(batch);
    counts = reinterpret_cast<uint32_t*>(at);
    ends = counts + kBatchWave;
    at += kBatchWave * 8;
    keys = reinterpret_cast<uint64_t*>(at);
    ids = reinterpret_cast<uint32_t*>(keys + batch.room);
    bounds = reinterpret_cast<float*>(ids + batch.room);
    sources = reinterpret_cast<uint32_t*>(bounds + batch.room);
  }
};

// Candidates are put in the order of lists and estimates, and their ordinals are checked. A place is that of one of
// `lists`, or of a piece of the first one. The function ends with a barrier.
template <class S>
__device__ __forceinline__ void rank_batch(S& s, const BatchCandidates& c,
                                           const BatchCandidate* candidates, const uint32_t* lists,
                                           bool pieces, uint32_t count) {
  for (uint32_t place = threadIdx.x; place < kBatchWave; place += S::kThreads) {
    c.counts[place] = 0;
  }
  cta_sync<S::kWarps>();
  for (uint32_t i = threadIdx.x; i < count; i += S::kThreads) {
    atomicAdd(&c.counts[candidates[i].place], 1u);
  }
  cta_sync<S::kWarps>();
  for (uint32_t place = threadIdx.x; place < kBatchWave; place += S::kThreads) {
    uint32_t before = 0;
    for (uint32_t other = 0; other < place; other++) {
      before += c.counts[other];
    }
    c.ends[place] = before;
  }
  cta_sync<S::kWarps>();
  for (uint32_t i = threadIdx.x; i < count; i += S::kThreads) {
    const uint32_t at = atomicAdd(&c.ends[candidates[i].place], 1u);
    c.sources[at] = i;
    c.keys[at] = static_cast<uint64_t>(candidates[i].estimate) << 32 | candidates[i].entry;
  }
  cta_sync<S::kWarps>();
  const Lists& all = s.control.lists;
  for (uint32_t at = threadIdx.x; at < count; at += S::kThreads) {
    const BatchCandidate own = candidates[c.sources[at]];
    const uint32_t list = lists[pieces ? 0 : own.place];
    OpenList open;
    open.list = list;
    open.places = list_places(entries_of(all, list));
    open.address = list_address(all, list);
    const ListColumns columns =
        list_columns(all, open.address, open.places, own.entry / kListBlock * kListBlock);
    // asked for before the rank is known
    const uint32_t ordinal = __ldg(columns.numbers + own.entry % kListBlock);
    const uint64_t key = c.keys[at];
    const uint32_t end = c.ends[own.place];
    const uint32_t begin = end - c.counts[own.place];
    uint32_t rank = begin;
    for (uint32_t other = begin; other < end; other++) {
      rank += c.keys[other] < key ? 1u : 0u;
    }
    const bool valid = valid_entry(s, open, columns, own.entry, ordinal);
    if (valid == false) {
      atomicOr(&s.control.flags, static_cast<uint32_t>(kCorrupt));
    }
    c.ids[rank] = valid ? ordinal : 0;
    c.bounds[rank] = own.bound;
  }
  cta_sync<S::kWarps>();
}

// Goes through the scores of a wave in the order of lists and estimates, by the first warp; returns whether the
// search has ended.
template <class S>
__device__ __forceinline__ bool replay_batch(S& s, const BatchCandidates& c, bool pieces,
                                             uint32_t places) {
  Replay replay = begin_replay(s);
  uint32_t position = 0;
  bool ended = false;
  for (uint32_t place = 0; place < places; place++) {
    if (pieces == false && begin_list(s, replay) == false) {
      ended = true;
      break;
    }
    replay_piece(s, replay, position, position + c.counts[place]);
    position += c.counts[place];
  }
  ended = ended || search_ends(s, replay);
  end_replay(s, replay);
  return ended;
}

// Searches what is left of the nearest list of an item that has more candidates there than there is room for. It is no
// part of its caller, which so has registers for what most items need.
template <class S>
__device__ __noinline__ void search_pieces(const ListBatch& batch, uint32_t item) {
  const BatchMemory memory(batch);
  const ListSearch search = batch_search(batch);
  S s(search, block_memory());
  resume_item(s, batch, memory, item);
  take_shared_fields(s);
  load_rotated(s, memory, item);
  cta_sync<S::kWarps>();
  const OpenList open = open_list(s, memory.order[uint64_t{item} * batch.kept]);
  search_nearest(s, open, batch_alone(open.count), open.count);
  const bool ended = s.control.flags != 0 || s.control.visited >= s.control.item.visit_limit;
  leave_item(s, batch, memory, item, ended);
  cta_sync<S::kWarps>();
}

// The next wave searches the first half of the lists again, in which an item has more candidates than there is room
// for. If that is impossible the item is left to list_batch_rest.
template <class S>
__device__ __forceinline__ void postpone_lists(const ListBatch& batch, const BatchMemory& memory,
                                               uint32_t item, uint32_t lists) {
  BatchItem& known = memory.items[item];
  // all threads have read what is known of the item
  cta_sync<S::kWarps>();
  if (threadIdx.x != 0) {
    return;
  }
  if (lists > 1 && last_wave(batch) == false) {
    known.most = lists / 2;
    known.candidates = 0;
  } else {
    leave_to_rest(batch, memory, item);
  }
}

// Exact scores of the candidates of a wave, and what the search makes of them.
template <uint32_t FORMAT>
__device__ __forceinline__ void score_batch(const ListBatch& batch, uint8_t* shared) {
  const BatchMemory memory(batch);
  using S = BatchState<FORMAT>;
  const ListSearch search = batch_search(batch);
  S s(search, shared);
  const BatchCandidates c(batch, shared);
  s.candidates = c.keys;
  s.sorted = c.bounds;
  for (uint32_t item = blockIdx.x; item < batch.search.count; item += gridDim.x) {
    const BatchItem& known = memory.items[item];
    if (known.ended != 0) {
      continue;
    }
    const uint32_t count = known.candidates;
    const bool pieces = wave_of_pieces(batch);
    const uint32_t* nearest = memory.order + uint64_t{item} * batch.kept;
    const uint32_t places =
        pieces ? pieces_left(batch_lists(batch), known, *nearest) : lists_in_wave(batch, known);
    if (places == 0) {
      continue;
    }
    if (count > batch.room) {
      if (pieces) {
        search_pieces<S>(batch, item);
      } else {
        postpone_lists<S>(batch, memory, item, places);
      }
      continue;
    }
    resume_item(s, batch, memory, item);
    s.history = memory.history + uint64_t{item} * batch.kept;
    rank_batch(s, c, memory.candidates + uint64_t{item} * batch.room,
               pieces ? nearest : nearest + s.control.probed, pieces, count);
    const Segment& segment = s.control.segment;
    const Rows rows = {reinterpret_cast<const uint8_t*>(segment.raw), segment.raw_stride,
                       segment.dimension, nullptr,
                       ((segment.raw | segment.raw_stride) & 15u) == 0};
    exact_sums<FORMAT, S::kWarps, Chunk<FORMAT>::kLoads>(
        rows, segment.similarity == kEuclidean, s.query, up16(segment.dimension), c.ids, count,
        StoreKeys<S>{s, c.keys});
    cta_sync<S::kWarps>();
    if (warp_id() == 0) {
      const bool ended = replay_batch(s, c, pieces, places);
      if (lane_id() == 0) {
        s.control.ended = ended ? 1 : 0;
      }
    }
    cta_sync<S::kWarps>();
    take_shared_fields(s);
    leave_item(s, batch, memory, item, s.control.ended != 0);
    cta_sync<S::kWarps>();
  }
}

// Items that a step has left, one by one as in other launches.
template <uint32_t FORMAT>
__device__ __forceinline__ void search_rest(const ListBatch& batch) {
  const BatchMemory memory(batch);
  ListSearch search = batch.search;
  search.items = reinterpret_cast<uint64_t>(memory.left);
  search.flags = 0;
  search.counter = reinterpret_cast<uint64_t>(&memory.rest->next);
  search.count = memory.rest->count;
  search_list_items<FORMAT, kBatchRestWarps, kListBits>(search);
}

}  // namespace vamana
