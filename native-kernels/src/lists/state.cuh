// State of a block that searches lists, and the layout of its shared memory.
#pragma once

#include <cstdint>

#include "cta.cuh"
#include "vamana/list_layout.h"
#include "vamana/list_team.h"
#include "vamana/lists.h"
#include "vamana/types.h"

namespace vamana {

// Most warps of a block that searches one list after the other.
constexpr uint32_t kListWarps = 8;

// An opened list: where it is, and the query as seen from its centroid.
struct OpenList {
  uint64_t address;
  uint32_t list;
  uint32_t count;
  uint32_t places;
  uint32_t from;     // of waves: entries from..to-1 are searched; from is a multiple of a block
  uint32_t to;
  ListHeads heads;
  float more_step;
  float length;      // of the residual
  int32_t more_sum;  // of the numbers for tails
};
static_assert(sizeof(OpenList) <= kOpenListBytes, "OpenList");

// Words of shared memory that the threads of a block agree through.
struct ListControl {
  Segment segment;
  Item item;
  Lists lists;
  uint64_t nearest[kListWarps];   // for each warp the nearest list that it watches
  float largest[kListWarps];      // of the residual's components
  float squares[kListWarps];      // of the residual
  int32_t sums[kListWarps];       // of the residual's numbers, for heads
  int32_t more_sums[kListWarps];  // for tails
  uint32_t slot_counts[kListWave];  // candidates of each piece that the block searches; 0 between waves
  uint32_t best_size;  // while scores of a wave are gone through: the fields of the state
  uint32_t probed;
  float limit;
  uint32_t ended;      // of searches by many items together: whether no further list is searched
  uint32_t next;
  uint32_t flags;
  uint32_t candidate_count;
  uint32_t scored;    // vectors that get exact scores now
  uint32_t position;  // first candidate that was not looked at
  uint32_t visited;   // vectors that got exact scores
  uint32_t all_hits;  // scored vectors that were among the nearest so far
  uint32_t new_hits;
  uint32_t near_keys;    // bits of the keys scored last that may be among the nearest
  uint32_t first_moved;  // first entry behind which a new one goes
  ListTable entries;     // of waves: the fields of the state
  uint32_t width;
  float query_norm2;
  float rotated_norm2;
};
static_assert(sizeof(ListControl) <= kListControlBytes, "ListControl");

// How far the first block is with a wave.
enum WaveState : uint32_t { kWaveOn = 0, kWaveEnded = 1, kSearchEnded = 2 };

// A block's state of waves. Only the first block of a team uses the fields below `member`.
struct WaveControl {
  uint32_t words[kWaveWords];  // the wave
  uint32_t tag;                // its number, counted by what was published
  uint32_t member;             // of the team: 0 leads
  uint32_t alone[kWaveWords];  // the same for a piece that is searched again by itself
  uint32_t alone_end;          // the piece's last entry is before this
  uint32_t alone_left;         // whether there is such a piece
  uint32_t found[kTeamWave];   // of each piece: place and number of its candidates
  uint32_t starts[kTeamWave];  // where its candidates are in this block's shared memory
  uint16_t picked[kTeamWave];  // the next lists
  uint32_t picked_first;       // of these the first that no wave had
  uint32_t picked_count;
  uint32_t most;               // pieces of a wave, as far as their candidates had room
  uint32_t pick_most;          // the same when the wave began: the picker reads it while `most` may change
  uint32_t blocks;             // of the team that have begun
  uint32_t next;               // piece whose scores were not looked at
  uint32_t state;              // WaveState
  uint32_t exhausted;          // whether there was nothing left for a wave
  uint32_t until;              // pieces before this have their candidates in shared memory
  uint32_t part_list;          // a list of which a part has not been searched
  uint32_t part_from;          // the part's first entry; 0: there is none
  uint32_t part_count;         // entries of the list
};
static_assert(sizeof(WaveControl) <= kWaveControlBytes, "WaveControl");

// Type of an entry of the query's table.
template <uint32_t CODES>
struct ListEntryOf {
  using Type = float;
};

template <>
struct ListEntryOf<kListTable> {
  using Type = uint16_t;
};

template <uint32_t CODES>
using ListTableEntry = typename ListEntryOf<CODES>::Type;

// A field of the state: a register, or a reference to shared memory.
template <class Field, bool SHARED>
struct KeptField {
  using Type = Field;
};

template <class Field>
struct KeptField<Field, true> {
  using Type = Field&;
};

// Sets a field of the state to a value that all threads have: in each thread's register, or by the first thread where
// the block shares the field. Then a barrier comes before other threads read it.
template <class S, class Field>
__device__ __forceinline__ void keep_field(Field& field, Field value) {
  if (S::kWaves == false || threadIdx.x == 0) {
    field = value;
  }
}

// Everything a block knows of its item; the same in all threads, but for what a thread watches.
template <uint32_t FORMAT, int WARPS, uint32_t CODES>
struct ListState {
  static constexpr uint32_t kFormat = FORMAT;
  static constexpr uint32_t kCodes = CODES;
  static constexpr bool kQuantized = CODES != kListBits;
  static constexpr int kWarps = WARPS;
  static constexpr uint32_t kThreads = WARPS * 32;
  static constexpr bool kWaves = WARPS > kListWarps;

  const ListSearch& search;
  ListControl& control;
  uint64_t* best;
  uint64_t* keys;
  uint32_t* ids;
  uint64_t* candidates;
  float* bounds;
  uint16_t* ranked;
  float* sorted;       // of waves: bounds of candidates in the order of ids
  float* query;
  float* rotated;
  float* residual;
  uint32_t* planes;
  uint32_t* more;
  ListTableEntry<CODES>* table;  // of product quantization
  // Blocks of many warps, whose threads have few registers, keep these in shared memory.
  typename KeptField<ListTable, kWaves>::Type entries;  // what the table's entries are
  typename KeptField<uint32_t, kWaves>::Type width;
  typename KeptField<float, kWaves>::Type query_norm2;  // |q|^2 for exact scores; of bytes an integer, as bits
  typename KeptField<float, kWaves>::Type rotated_norm2;
  uint32_t* near;
  uint32_t* history;   // hits before each list that was searched
  uint64_t* groups;
  OpenList* opened;
  WaveControl* wave;
  uint32_t best_size;
  uint32_t probed;     // of waves: lists searched
  float limit;         // vectors beyond this distance are no hits
  uint32_t watched;    // lists that each thread watches
  uint64_t mine;       // the nearest list that this thread watches: key, number
  bool begun = false;  // whether the block has had an item

  __device__ ListState(const ListSearch& parameters, uint8_t* shared)
      : ListState(parameters, *reinterpret_cast<ListControl*>(shared), shared) {}

  __device__ ListState(const ListSearch& parameters, ListControl& words, uint8_t* shared)
      : search(parameters),
        control(words),
        entries(words.entries),
        width(words.width),
        query_norm2(words.query_norm2),
        rotated_norm2(words.rotated_norm2) {
    const ListLayout layout = list_layout(parameters, kWaves, CODES);
    best = reinterpret_cast<uint64_t*>(shared + layout.best);
    keys = reinterpret_cast<uint64_t*>(shared + layout.keys);
    ids = reinterpret_cast<uint32_t*>(shared + layout.ids);
    candidates = reinterpret_cast<uint64_t*>(shared + layout.candidates);
    bounds = reinterpret_cast<float*>(shared + layout.bounds);
    ranked = reinterpret_cast<uint16_t*>(shared + layout.ranked);
    sorted = reinterpret_cast<float*>(shared + layout.ranked);
    groups = reinterpret_cast<uint64_t*>(shared + layout.groups);
    opened = reinterpret_cast<OpenList*>(shared + layout.opened);
    wave = reinterpret_cast<WaveControl*>(shared + layout.wave);
    query = reinterpret_cast<float*>(shared + layout.query);
    rotated = reinterpret_cast<float*>(shared + layout.rotated);
    residual = reinterpret_cast<float*>(shared + layout.residual);
    planes = reinterpret_cast<uint32_t*>(shared + layout.planes);
    more = reinterpret_cast<uint32_t*>(shared + layout.more);
    uint8_t* scratch =
        reinterpret_cast<uint8_t*>(search.scratch) + blockIdx.x * search.scratch_stride;
    history = reinterpret_cast<uint32_t*>(
        kWaves && lists_shared(search) ? shared + layout.history : scratch);
    near = reinterpret_cast<uint32_t*>(lists_shared(search) ? shared + layout.near
                                                            : scratch + list_scratch_row(search));
    table = reinterpret_cast<ListTableEntry<CODES>*>(
        CODES == kListTableGlobal ? scratch + list_scratch_table(search) : shared + layout.table);
  }
};

// Copies the descriptor of a segment, and that of its lists behind it; by a warp.
template <class S>
__device__ __forceinline__ void copy_descriptor(S& s, uint64_t segment) {
  copy_words(s.control.segment, reinterpret_cast<const void*>(segment));
  copy_words(s.control.lists, reinterpret_cast<const void*>(segment + kListsOffset));
}

}  // namespace vamana
