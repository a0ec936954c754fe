// The walk: greedy search of one item by one thread block, whole batches in one launch (BANG,
// algorithm 2, without its round trips to the host).
#pragma once

#include <cstdint>

#include "asymmetric.cuh"
#include "cta.cuh"
#include "exact.cuh"
#include "vamana/order.h"
#include "vamana/shared_layout.h"
#include "vamana/types.h"
#include "visited.cuh"
#include "worklist.cuh"

namespace vamana {

// Words of shared memory that the threads of a block agree through.
struct Control {
  Segment segment;
  Item item;
  uint32_t next;
  uint32_t fresh_count;
  uint32_t key_count;
  uint32_t merge_count;
  uint32_t list_size;
  uint32_t parent_count;
  uint32_t flags;
  float query_norm2;
  float table_scale;
  uint32_t parents[kMaxParents];
};
static_assert(sizeof(Control) <= kControlBytes, "Control");

template <uint32_t POLICY>
struct PolicyTraits {
  static constexpr bool kExact = POLICY <= kExactByte;
  static constexpr uint32_t kFormat =
      POLICY == kExactFloat16 ? kFloat16 : POLICY == kExactByte ? kByte : kFloat32;
};

// Stages whose cycles the profiling kernels add up.
enum Stage { kPrepare, kPick, kRows, kDistances, kMerge, kRerank, kWrite, kStages };

// Everything a block knows of its item; the same in all threads. PROFILE adds the cycles of each
// stage to kStages 64-bit words at the start of the scratch, which then has no other use.
template <uint32_t POLICY, int WARPS, bool PROFILE>
class Walker {
 public:
  __device__ Walker(const Walk& walk, uint8_t* shared)
      : walk_(walk), control_(*reinterpret_cast<Control*>(shared)) {
    SharedLayout layout = shared_layout(POLICY, walk);
    list_.keys = reinterpret_cast<uint64_t*>(shared + layout.list);
    keys_ = reinterpret_cast<uint64_t*>(shared + layout.keys);
    ids_ = reinterpret_cast<uint32_t*>(shared + layout.ids);
    visited_ = reinterpret_cast<uint32_t*>(shared + layout.visited);
    query_ = reinterpret_cast<float*>(shared + layout.query);
    table_ = shared + layout.table;
    uint8_t* scratch =
        reinterpret_cast<uint8_t*>(walk.scratch) + blockIdx.x * walk.scratch_stride;
    if constexpr (POLICY == kTableFloatGlobal) {
      table_ = scratch;
      scratch += static_cast<uint64_t>(walk.subspaces) * kCentroids * 4;
    }
    expanded_ = reinterpret_cast<uint32_t*>(scratch);
  }

  __device__ void run() {
    while (take_item()) {
      start_ = PROFILE ? clock64() : 0;
      prepare();
      lap(kPrepare);
      walk();
      finish();
      lap(kWrite);
      cta_sync<WARPS>();
    }
  }

 private:
  __device__ __forceinline__ void lap(Stage stage) {
    if constexpr (PROFILE) {
      long long now = clock64();
      if (threadIdx.x == 0) {
        atomicAdd(reinterpret_cast<unsigned long long*>(walk_.scratch) + stage,
                  static_cast<unsigned long long>(now - start_));
      }
      start_ = clock64();
    }
  }

  static constexpr uint32_t kThreads = WARPS * 32;
  static constexpr bool kExact = PolicyTraits<POLICY>::kExact;
  static constexpr uint32_t kFormat = PolicyTraits<POLICY>::kFormat;

  __device__ bool take_item() {
    if (threadIdx.x == 0) {
      control_.next = atomicAdd(reinterpret_cast<uint32_t*>(walk_.counter), 1u);
    }
    cta_sync<WARPS>();
    uint32_t next = control_.next;
    if (next >= walk_.count) {
      return false;
    }
    if (warp_id() == 0) {
      const uint32_t* item = reinterpret_cast<const uint32_t*>(
          reinterpret_cast<const volatile uint64_t*>(walk_.items)[next]);
      if (lane_id() < sizeof(Item) / 4) {
        reinterpret_cast<uint32_t*>(&control_.item)[lane_id()] =
            *reinterpret_cast<const volatile uint32_t*>(item + lane_id());
      }
      __syncwarp();
      const uint32_t* segment = reinterpret_cast<const uint32_t*>(control_.item.segment);
      if (lane_id() < sizeof(Segment) / 4) {
        reinterpret_cast<uint32_t*>(&control_.segment)[lane_id()] = segment[lane_id()];
      }
      if (lane_id() == 0) {
        control_.flags = 0;
        control_.fresh_count = 0;
      }
    }
    cta_sync<WARPS>();
    return true;
  }

  // Query, table and an empty visited set.
  __device__ void prepare() {
    const Segment& segment = control_.segment;
    const Item& item = control_.item;
    padded_ = up16(segment.dimension);
    list_.size = 0;
    list_.cursor = 0;
    visited_count_ = 0;
    expanded_count_ = 0;
    iterations_ = 0;
    for (uint32_t i = threadIdx.x; i < walk_.visited_slots / 4; i += kThreads) {
      reinterpret_cast<uint4*>(visited_)[i] = {0, 0, 0, 0};
    }
    const bool unit = kExact == false && segment.similarity == kCosine;
    float norm2 = 0;
    for (uint32_t d = threadIdx.x; d < segment.dimension; d += kThreads) {
      float q = segment.byte_scoring != 0
                    ? static_cast<float>(reinterpret_cast<const int8_t*>(item.query)[d])
                    : reinterpret_cast<const float*>(item.query)[d];
      query_[kExact ? query_place<kFormat>(d, padded_) : d] = q;
      norm2 = fmaf(q, q, norm2);
    }
    norm2 = warp_sum(norm2);
    if constexpr (WARPS > 1) {
      float* sums = reinterpret_cast<float*>(keys_);
      if (lane_id() == 0) {
        sums[warp_id()] = norm2;
      }
      __syncthreads();
      norm2 = 0;
      for (int w = 0; w < WARPS; w++) {
        norm2 += sums[w];
      }
    }
    query_norm2_ = norm2;
    cta_sync<WARPS>();
    if constexpr (kExact == false) {
      if (unit && norm2 > 0) {
        float inverse = 1 / sqrtf(norm2);
        for (uint32_t d = threadIdx.x; d < segment.dimension; d += kThreads) {
          query_[d] *= inverse;
        }
        cta_sync<WARPS>();
      }
      if constexpr (POLICY == kTableHalf) {
        float scale = table_scale<WARPS>(segment, query_, &control_.table_scale);
        fill_table<WARPS>(segment, query_, scale, reinterpret_cast<uint16_t*>(table_));
      } else {
        fill_table<WARPS>(segment, query_, reinterpret_cast<float*>(table_));
      }
      cta_sync<WARPS>();
    }
  }

  // The first warp keeps short worklists alone, which saves barriers; long ones are all warps' work.
  static constexpr uint32_t kLongList = 512;

  __device__ void walk() {
    add_entry_points();
    const bool together = WARPS > 1 && control_.item.beam > kLongList;
    uint4 row = {kUnusedSlot, kUnusedSlot, kUnusedSlot, kUnusedSlot};
    uint32_t row_of = kUnusedSlot;
    while (true) {
      const uint32_t count = control_.fresh_count;
      uint32_t allowed = control_.item.visit_limit - visited_count_;
      complete_ = count <= allowed;
      allowed = complete_ ? count : allowed;
      visited_count_ += allowed;
      distances(allowed);
      cta_sync<WARPS>();
      lap(kDistances);
      if (together) {
        uint32_t kept = make_keys<WARPS>(allowed, control_.item.beam, list_, kExact);
        pick_eagerly(kept, &row, &row_of);
        merge_new_keys<WARPS>(list_, control_.item.beam, keys_, ids_, kept, &control_.merge_count);
      } else if (warp_id() == 0) {
        uint32_t kept = make_keys<1>(allowed, control_.item.beam, list_, kExact);
        pick_eagerly(kept, &row, &row_of);
        merge_new_keys<1>(list_, control_.item.beam, keys_, ids_, kept, &control_.merge_count);
      }
      lap(kMerge);
      if (warp_id() == 0) {
        pick_parents();
      }
      cta_sync<WARPS>();
      lap(kPick);
      if (control_.parent_count == 0) {
        break;
      }
      expanded_count_ += control_.parent_count;
      iterations_++;
      read_rows(row, row_of);
      cta_sync<WARPS>();
      lap(kRows);
    }
    list_.size = control_.list_size;
  }

  __device__ void add_entry_points() {
    const Segment& segment = control_.segment;
    const Item& item = control_.item;
    if (warp_id() == 0) {
      for (uint32_t from = 0; from < item.entry_count + 1; from += 32) {
        uint32_t i = from + lane_id();
        uint32_t ordinal = segment.medoid;
        if (i > 0 && i <= item.entry_count) {
          ordinal = reinterpret_cast<const uint32_t*>(item.entry_points)[i - 1];
        }
        bool valid = i <= item.entry_count;
        if (valid && ordinal >= segment.size) {
          control_.flags = kCorrupt;
          valid = false;
        }
        const uint32_t ordinals[1] = {ordinal};
        bool fresh = visited_add<1>(visited_, walk_.visited_slots, ordinals, valid ? 1u : 0u) != 0;
        uint32_t slot = append_slot(fresh, &control_.fresh_count);
        if (fresh) {
          ids_[slot] = ordinal;
        }
      }
    }
    cta_sync<WARPS>();
  }

  // Marks the nearest unexpanded entries, by the first warp; none if the walk is over.
  __device__ void pick_parents() {
    uint32_t count = 0;
    const uint32_t wanted = complete_ && control_.flags == 0 ? control_.item.parents : 0;
    while (count < wanted) {
      uint32_t at = next_unexpanded(list_);
      list_.cursor = at;
      if (at == list_.size) {
        break;
      }
      uint64_t key = list_.keys[at];
      __syncwarp();
      if (lane_id() == 0) {
        list_.keys[at] = key | kExpanded;
        control_.parents[count] = key_ordinal(key);
        if (walk_.expanded_capacity > 0 && control_.item.rerank < 0) {
          if (expanded_count_ + count < walk_.expanded_capacity) {
            expanded_[expanded_count_ + count] = key_ordinal(key);
          } else {
            control_.flags = kOverflow;
          }
        }
      }
      count++;
      list_.cursor = at + 1;
      __syncwarp();
    }
    if (lane_id() == 0) {
      control_.parent_count = count;
      control_.fresh_count = 0;
      control_.list_size = list_.size;
    }
  }

  __device__ uint4 load_row(uint32_t ordinal) const {
    const Segment& segment = control_.segment;
    const uint4* row = reinterpret_cast<const uint4*>(segment.graph) +
                       static_cast<uint64_t>(ordinal) * (segment.graph_stride / 4);
    if (lane_id() < segment.graph_stride / 4) {
      return __ldg(row + lane_id());
    }
    return {kUnusedSlot, kUnusedSlot, kUnusedSlot, kUnusedSlot};
  }

  // Appends the neighbours that were not seen before to ids_.
  __device__ void read_rows(uint4 requested, uint32_t requested_of) {
    for (uint32_t p = warp_id(); p < control_.parent_count; p += WARPS) {
      uint32_t parent = control_.parents[p];
      uint4 row = p == 0 && parent == requested_of ? requested : load_row(parent);
      const uint32_t slots[4] = {row.x, row.y, row.z, row.w};
      uint32_t valid = 0;
#pragma unroll
      for (int i = 0; i < 4; i++) {
        if (slots[i] < control_.segment.size) {
          valid |= 1u << i;
        } else if (slots[i] != kUnusedSlot) {
          control_.flags = kCorrupt;
        }
      }
      uint32_t add = (walk_.flags & kNoVisitedFilter) != 0
                         ? valid
                         : visited_add<4>(visited_, walk_.visited_slots, slots, valid);
      uint32_t fresh[4];
      uint32_t total = 0;
#pragma unroll
      for (int i = 0; i < 4; i++) {
        fresh[i] = __ballot_sync(kAllLanes, (add >> i & 1u) != 0);
        total += __popc(fresh[i]);
      }
      uint32_t base = 0;
      if (control_.parent_count == 1) {
        if (lane_id() == 0) {
          control_.fresh_count = total;
        }
      } else {
        if (lane_id() == 0) {
          base = atomicAdd(&control_.fresh_count, total);
        }
        base = __shfl_sync(kAllLanes, base, 0);
      }
#pragma unroll
      for (int i = 0; i < 4; i++) {
        if ((fresh[i] >> lane_id() & 1u) != 0) {
          ids_[base + __popc(fresh[i] & lanes_below())] = slots[i];
        }
        base += __popc(fresh[i]);
      }
    }
  }

  // Requests the row of the entry that will be expanded next: the nearest of the new keys and the
  // unexpanded entries (BANG, section 4.6).
  __device__ void pick_eagerly(uint32_t kept, uint4* row, uint32_t* row_of) {
    if ((walk_.flags & kEagerPick) == 0 || control_.item.parents != 1 || warp_id() != 0) {
      return;
    }
    uint64_t best = kNoKey;
    for (uint32_t i = lane_id(); i < kept; i += 32) {
      best = keys_[i] < best ? keys_[i] : best;
    }
    best = warp_min(best);
    uint32_t open = next_unexpanded(list_);
    if (open < list_.size && list_.keys[open] < best) {
      best = list_.keys[open];
    }
    *row_of = kUnusedSlot;
    if (best != kNoKey) {
      *row_of = key_ordinal(best);
      *row = load_row(*row_of);
    }
  }

  // Turns the sums of the ids in ids_ into keys, in place, and drops those that the list would not
  // take. The first warp does it, 32 at a time; GROUP is 1 if it is alone, otherwise all warps get
  // the count.
  template <int GROUP>
  __device__ __forceinline__ uint32_t make_keys(uint32_t count, uint32_t capacity,
                                                const Worklist& list, bool scores) {
    uint32_t kept_count = 0;
    if (warp_id() == 0) {
      const Segment& segment = control_.segment;
      const uint64_t worst =
          list.size == capacity ? unmarked(list.keys[list.size - 1]) : kNoKey;
      for (uint32_t from = 0; from < count; from += 32) {
        uint32_t i = from + lane_id();
        uint64_t key = kNoKey;
        if (i < count) {
          Sums sums = reinterpret_cast<const Sums*>(keys_)[i];
          float distance = scores ? -score_of(segment.similarity, segment.byte_scoring != 0,
                                              segment.dimension, sums, query_norm2_)
                                  : sums.first;
          key = make_key(distance, ids_[i]);
        }
        uint32_t kept = __ballot_sync(kAllLanes, key < worst);
        if (key < worst) {
          keys_[kept_count + __popc(kept & lanes_below())] = key;
        }
        kept_count += __popc(kept);
        __syncwarp();
      }
      if (GROUP > 1 && lane_id() == 0) {
        control_.key_count = kept_count;
      }
    }
    if constexpr (GROUP > 1) {
      __syncthreads();
      kept_count = control_.key_count;
    }
    return kept_count;
  }

  // Sums of the ids in ids_, by their place there.
  __device__ __forceinline__ void distances(uint32_t count) {
    Sums* sums = reinterpret_cast<Sums*>(keys_);
    const Segment& segment = control_.segment;
    if constexpr (kExact) {
      Rows rows = {reinterpret_cast<const uint8_t*>(segment.vectors),
                   segment.vector_stride,
                   segment.dimension,
                   segment.vector_scale,
                   segment.vector_offset,
                   segment.vector_flip,
                   true};
      // one warp has other blocks to hide its latency behind, and registers bound their number
      constexpr int kLoads = (WARPS == 1 ? 1 : 2) * Chunk<kFormat>::kLoads;
      exact_sums<kFormat, WARPS, kLoads>(rows, segment.similarity == kEuclidean, query_, padded_,
                                         ids_, count, sums);
    } else if constexpr (POLICY == kTableHalf) {
      asymmetric_sums<uint16_t, WARPS>(segment, reinterpret_cast<const uint16_t*>(table_), ids_, count,
                                     sums);
    } else {
      asymmetric_sums<float, WARPS>(segment, reinterpret_cast<const float*>(table_), ids_, count,
                                    sums);
    }
  }

  __device__ bool accepts(uint32_t ordinal) const {
    const uint64_t* words = reinterpret_cast<const uint64_t*>(control_.item.accepted);
    return words == nullptr || (words[ordinal >> 6] >> (ordinal & 63u) & 1u) != 0;
  }

  // Moves the accepted of the entries from..from+31 of the list (or of the expanded nodes) to ids_,
  // at most `room` of them, and returns how many. For all threads, between barriers.
  __device__ uint32_t take_accepted(uint32_t from, uint32_t to, bool expanded, uint32_t room) {
    if (warp_id() == 0) {
      uint32_t i = from + lane_id();
      uint32_t ordinal = 0;
      bool keep = i < to;
      if (keep) {
        ordinal = expanded ? expanded_[i] : key_ordinal(list_.keys[i]);
        keep = accepts(ordinal);
      }
      uint32_t kept = __ballot_sync(kAllLanes, keep);
      uint32_t slot = __popc(kept & lanes_below());
      if (keep && slot < room) {
        ids_[slot] = ordinal;
      }
      if (lane_id() == 0) {
        uint32_t count = __popc(kept);
        control_.fresh_count = count < room ? count : room;
      }
    }
    cta_sync<WARPS>();
    return control_.fresh_count;
  }

  // Replaces the list by the k best candidates with their exact distances (BANG, section 4.9). The
  // result grows over entries that have been read.
  __device__ void rerank() {
    const Segment& segment = control_.segment;
    const Item& item = control_.item;
    const bool expanded = item.rerank < 0;
    const uint32_t candidates = expanded ? expanded_count_ : list_.size;
    uint32_t room = expanded ? candidates : static_cast<uint32_t>(item.rerank);
    relay_query();
    Rows rows = {reinterpret_cast<const uint8_t*>(segment.raw),
                 segment.raw_stride,
                 segment.dimension,
                 1.0f,
                 -128.0f,
                 0x80u,
                 ((segment.raw | segment.raw_stride) & 15u) == 0};
    Worklist best = {list_.keys, 0, 0};
    for (uint32_t from = 0; from < candidates && room > 0; from += 32) {
      uint32_t count = take_accepted(from, candidates, expanded, room);
      room -= count;
      Sums* sums = reinterpret_cast<Sums*>(keys_);
      const bool euclidean = segment.similarity == kEuclidean;
      if (kExact == false && segment.raw_format == kByte) {
        exact_sums<kByte, WARPS, 1>(rows, euclidean, query_, padded_, ids_, count, sums);
      } else {
        exact_sums<kFloat32, WARPS, 2>(rows, euclidean, query_, padded_, ids_, count, sums);
      }
      cta_sync<WARPS>();
      count = make_keys<WARPS>(count, item.k, best, true);
      merge_new_keys<WARPS>(best, item.k, keys_, ids_, count, &control_.merge_count);
    }
    list_.size = best.size;
    cta_sync<WARPS>();
  }

  // Lays the query out for the format of the raw vectors; read again, since tables of cosines are
  // made of a query of unit length.
  __device__ void relay_query() {
    const Segment& segment = control_.segment;
    const Item& item = control_.item;
    for (uint32_t d = threadIdx.x; d < segment.dimension; d += kThreads) {
      float q = segment.byte_scoring != 0
                    ? static_cast<float>(reinterpret_cast<const int8_t*>(item.query)[d])
                    : reinterpret_cast<const float*>(item.query)[d];
      uint32_t place = kExact == false && segment.raw_format == kByte
                           ? query_place<kByte>(d, padded_)
                           : query_place<kFloat32>(d, padded_);
      query_[place] = q;
    }
    cta_sync<WARPS>();
  }

  __device__ void finish() {
    const Segment& segment = control_.segment;
    const Item& item = control_.item;
    uint32_t flags = control_.flags | (complete_ ? kComplete : 0u);
    const bool exact_keys =
        POLICY == kExactFloat32 || (POLICY == kExactByte && segment.byte_scoring != 0);
    uint32_t wanted = item.k;
    bool accepted_only = exact_keys;
    if (control_.flags == 0 && exact_keys == false) {
      if (segment.raw != 0) {
        lap(kPick);
        rerank();
        lap(kRerank);
      } else {
        flags |= kApproximate;
        wanted = item.capacity;
        accepted_only = true;
      }
    }
    write_result(item, flags, wanted, accepted_only);
  }

  __device__ void write_result(const Item& item, uint32_t flags, uint32_t wanted,
                               bool accepted_only) {
    if (warp_id() != 0) {
      return;
    }
    Result* result = reinterpret_cast<Result*>(item.result);
    uint32_t* ordinals = reinterpret_cast<uint32_t*>(result + 1);
    float* scores = reinterpret_cast<float*>(ordinals + item.capacity);
    wanted = wanted < item.capacity ? wanted : item.capacity;
    uint32_t written = 0;
    if ((flags & (kCorrupt | kOverflow)) == 0) {
      for (uint32_t from = 0; from < list_.size && written < wanted; from += 32) {
        uint32_t i = from + lane_id();
        uint64_t key = i < list_.size ? list_.keys[i] : kNoKey;
        bool keep = i < list_.size && (accepted_only == false || accepts(key_ordinal(key)));
        uint32_t kept = __ballot_sync(kAllLanes, keep);
        uint32_t slot = written + __popc(kept & lanes_below());
        if (keep && slot < wanted) {
          ordinals[slot] = key_ordinal(key);
          scores[slot] = -key_distance(key);
        }
        written += __popc(kept);
      }
    }
    if (lane_id() == 0) {
      result->count = written < wanted ? written : wanted;
      result->visited = visited_count_;
      result->flags = flags;
      result->iterations = iterations_;
    }
  }

  const Walk& walk_;
  Control& control_;
  Worklist list_;
  uint64_t* keys_;
  uint32_t* ids_;
  uint32_t* visited_;
  float* query_;
  uint8_t* table_;
  uint32_t* expanded_;
  uint32_t padded_;
  uint32_t visited_count_;
  uint32_t expanded_count_;
  uint32_t iterations_;
  float query_norm2_;
  bool complete_;
  long long start_;
};

template <uint32_t POLICY, int WARPS, bool PROFILE = false>
__device__ __forceinline__ void walk_items(const Walk& walk) {
  extern __shared__ __align__(16) uint8_t shared[];
  Walker<POLICY, WARPS, PROFILE> walker(walk, shared);
  walker.run();
}

}  // namespace vamana
