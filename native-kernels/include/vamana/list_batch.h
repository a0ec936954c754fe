// Searches of the inverted lists of one segment by many items together: each list is read once for all
// items that search it. docs/internals/ivf-gpu.md, "Many queries together", has the steps.
#pragma once

#include <cstdint>

#include "vamana/list_layout.h"
#include "vamana/lists.h"
#include "vamana/platform.h"
#include "vamana/types.h"

namespace vamana {

constexpr uint32_t kBatchWave = 64;      // most lists of an item in a wave
// Entries of an item's nearest list that are searched before any wave; what is left of it, kListBlock entries at a
// time, is a wave of its own, which has no other lists.
#ifdef VAMANA_SIMT
constexpr uint32_t kBatchAlone = 256;  // so that lists of tests have more
#else
constexpr uint32_t kBatchAlone = 1024;
#endif
constexpr uint32_t kBatchPieces = kBatchWave;  // most pieces of kListBlock entries that are left of it then
constexpr uint32_t kBatchTile = 32;      // items that are estimated together
constexpr uint32_t kBatchPart = 2048;    // entries of a list that are estimated together, by one block
constexpr uint32_t kEstimateWarps = 4;
constexpr uint32_t kEstimated = 32;      // entries of a warp at a time
constexpr uint32_t kEstimateStages = 3;  // so often entries of a warp are in shared memory, or on their way
constexpr uint32_t kBatchFlush = 64;     // entries and items left open that a warp looks at again together
constexpr uint32_t kBatchOpen = kBatchFlush + kEstimated * kBatchTile;  // that it has room for
constexpr uint32_t kBatchGroups = 1024;  // groups of lists whose nearest say where the nearest of all end
constexpr uint32_t kBatchNear = 1024;    // lists that there is room for while the nearest are put in order
constexpr uint32_t kMaxBatchKept = 512;  // lists of an item that are known in order
constexpr uint32_t kMaxBatchRoom = 4096;  // candidates of an item in a wave
constexpr uint32_t kMaxBatchPadded = 1024;
constexpr uint32_t kMeasuredItems = 128;  // items and lists whose distances a block finds together
constexpr uint32_t kMeasuredLists = 128;
constexpr uint32_t kMeasuredDepth = 16;   // components of them in shared memory, while as many are on their way

// Parameter of the kernels, by value. The items search the same segment, whose codes have one bit, without
// filters.
struct ListBatch {
  ListSearch search;  // scratch and lists are for what list_batch_rest searches; counter is not looked at
  uint64_t memory;    // list_batch_layout bytes, 256-byte aligned
  uint64_t segment;   // device address of the items' Segment
  uint64_t rest;      // BatchRest, then an address for each item of the launch
  uint32_t lists;     // of the segment
  uint32_t padded;    // of the segment
  uint32_t kept;      // lists of an item that are known in order, 1 to kMaxBatchKept
  uint32_t room;      // candidates of an item in a wave that there is room for
  uint32_t first;     // lists that items have searched before this wave; items that fell behind have fewer
  uint32_t wave;      // lists of an item in this wave, at most kBatchWave; 0: the rest of its nearest list
  uint32_t from;      // first item whose lists are put in order now
  uint32_t rows;      // items whose lists are put in order at a time
};
static_assert(sizeof(ListBatch) == 128, "ListBatch");

// State of an item between steps.
struct BatchItem {
  Item item;            // a copy: the item's own is in host memory
  float limit;
  float rotated_norm2;
  uint32_t best_size;
  uint32_t visited;
  uint32_t all_hits;
  uint32_t flags;
  uint32_t probed;
  uint32_t ended;       // whether later steps leave it alone
  uint32_t lists;       // known in order
  uint32_t all_lists;   // 1 if these are all that have vectors
  uint32_t candidates;  // of this wave
  float query_norm2;
  uint32_t most;        // lists in the next wave
  float center_norm2;   // of the rotated query less the first centroid
};
static_assert(sizeof(BatchItem) == 128, "BatchItem");

// An item and a list that it searches in this wave.
struct BatchPair {
  ListHeads heads;
  float limit;
  uint32_t item;
  uint32_t place;  // of the list in the wave; 0 of the nearest list, whose pieces have places
  uint32_t from;   // entries of the list that are not looked at; a piece begins with each kListBlock further
};
static_assert(sizeof(BatchPair) == 32, "BatchPair");

// An entry that the limit of its item leaves open.
struct BatchCandidate {
  uint32_t estimate;  // sortable
  uint32_t entry;     // number in its list
  float bound;
  uint32_t place;     // of the list or piece in the wave
};
static_assert(sizeof(BatchCandidate) == 16, "BatchCandidate");

// Words that the kernels count with.
struct BatchControl {
  uint32_t next_unit;  // of the estimates
  uint32_t reserved[63];
};
static_assert(sizeof(BatchControl) == 256, "BatchControl");

// Items that are searched one by one. It is not in ListBatch.memory, which is the next launch's by then; zero at
// first.
struct BatchRest {
  uint32_t count;
  uint32_t next;  // ListSearch.counter
  uint32_t reserved[62];
};
static_assert(sizeof(BatchRest) == 256, "BatchRest");

// Where the parts of ListBatch.memory are; offsets in bytes, multiples of 256.
struct BatchLayout {
  uint64_t control;     // BatchControl
  uint64_t counts;      // for each list the items that search it in this wave
  uint64_t starts;      // for each list and one more the pairs before it
  uint64_t units;       // for each list and one more the units of work before it
  uint64_t cursors;     // for each list the end of its pairs so far
  uint64_t norms;       // for each list the squared norm of its centroid less the first one
  uint64_t items;       // count BatchItem
  uint64_t queries;     // count rows of up16(dimension) floats, as exact scores need them
  uint64_t rotated;     // count rows of padded floats
  uint64_t best;        // count rows of width 64-bit keys
  uint64_t order;       // count rows of kept lists
  uint64_t history;     // count rows of kept numbers of hits
  uint64_t candidates;  // count rows of room BatchCandidate
  uint64_t pairs;       // count * kBatchWave BatchPair
  uint64_t numbers;     // as many rows of padded signed bytes: residuals, in the order of number_place
  uint64_t item_halves;  // count rows of 2 * padded halves: rotated queries less the first centroid, see halves.cuh
  uint64_t list_halves;  // as many for each list, of its centroid
  uint64_t keys;        // rows rows of batch_keys 32-bit keys, one for each list
  uint64_t nearest;     // rows rows of the least of each batch_octets keys
  uint64_t bytes;       // all
};

// Parts of eight lists side by side, whose keys a thread finds.
VAMANA_HD uint32_t batch_octets(uint32_t lists) {
  return (lists + kMeasuredLists - 1) / kMeasuredLists * (kMeasuredLists / 8);
}

// Number of keys of an item: whole tiles of lists; keys behind the last list are unused.
VAMANA_HD uint32_t batch_keys(uint32_t lists) { return 8 * batch_octets(lists); }

VAMANA_HD uint64_t batch_part(uint64_t* at, uint64_t bytes) {
  const uint64_t start = *at;
  *at += (bytes + 255) & ~uint64_t{255};
  return start;
}

VAMANA_HD BatchLayout list_batch_layout(const ListBatch& batch) {
  const uint64_t count = batch.search.count;
  const uint64_t lists = batch.lists;
  uint64_t at = 0;
  BatchLayout layout;
  layout.control = batch_part(&at, sizeof(BatchControl));
  layout.counts = batch_part(&at, lists * 4);
  layout.starts = batch_part(&at, (lists + 1) * 4);
  layout.units = batch_part(&at, (lists + 1) * 4);
  layout.cursors = batch_part(&at, lists * 4);
  layout.norms = batch_part(&at, lists * 4);
  layout.items = batch_part(&at, count * sizeof(BatchItem));
  layout.queries = batch_part(&at, count * up16(batch.search.dimension) * 4);
  layout.rotated = batch_part(&at, count * batch.padded * 4);
  layout.best = batch_part(&at, count * batch.search.width * 8);
  layout.order = batch_part(&at, count * batch.kept * 4);
  layout.history = batch_part(&at, count * batch.kept * 4);
  layout.candidates = batch_part(&at, count * batch.room * sizeof(BatchCandidate));
  layout.pairs = batch_part(&at, count * kBatchWave * sizeof(BatchPair));
  layout.numbers = batch_part(&at, count * kBatchWave * batch.padded);
  layout.item_halves = batch_part(&at, count * batch.padded * 4);
  layout.list_halves = batch_part(&at, lists * batch.padded * 4);
  layout.keys = batch_part(&at, uint64_t{batch.rows} * batch_keys(batch.lists) * 4);
  layout.nearest = batch_part(&at, uint64_t{batch.rows} * batch_octets(batch.lists) * 4);
  layout.bytes = at;
  return layout;
}

// ListSearch of the steps in which a block takes an item: the order of lists is elsewhere.
VAMANA_HD ListSearch batch_search(const ListBatch& batch) {
  ListSearch search = batch.search;
  search.lists = 1;
  return search;
}

// Shared memory of these steps without the candidates of a wave.
VAMANA_HD uint32_t batch_item_bytes(const ListBatch& batch) {
  return list_layout(batch_search(batch), false, kListBits).bytes;
}

// Shared memory of the step that scores candidates: keys, then ordinals, bounds and places in the buffer.
VAMANA_HD uint32_t batch_score_bytes(const ListBatch& batch) {
  return batch_item_bytes(batch) + kBatchWave * 8 + batch.room * (8 + 4 + 4 + 4);
}

// Bytes between the numbers of items in shared memory: rows of four items begin in different banks.
VAMANA_HD uint32_t batch_number_stride(uint32_t padded) { return padded + 32; }

// Bytes of a warp's entries in shared memory: codes, by 64 components, then constants, factors and errors.
VAMANA_HD uint32_t batch_stage_bytes(uint32_t padded) {
  return kEstimated * (padded / 8 + 3 * 4);
}

VAMANA_HD uint32_t batch_estimate_bytes(const ListBatch& batch) {
  return 16 + kEstimateWarps * kBatchOpen * 4 +
         kEstimateWarps * kEstimateStages * batch_stage_bytes(batch.padded) +
         kBatchTile * (16 + sizeof(BatchPair) + batch_number_stride(batch.padded));
}

// Words between rows of halves in shared memory: what a warp reads at once lies in different banks.
constexpr uint32_t kMeasureStride = kMeasuredDepth / 2 + 4;
// Rows of items and lists, each as two parts; twice.
constexpr uint32_t kBatchMeasureBytes =
    2 * 2 * (kMeasuredItems + kMeasuredLists) * kMeasureStride * 4;
constexpr uint32_t kBatchKeepBytes = 64 + kBatchNear * 8;
constexpr uint32_t kBatchScanBytes = 2 * 32 * 4;

// Place of a component among 32 numbers, so that the numbers of a lane lie together. Lane t of a group of four
// multiplies the components t, t + 8, t + 16, t + 24, and the components four further.
VAMANA_HD uint32_t number_place(uint32_t component) {
  const uint32_t t = component % 8;
  return (2 * (t % 4) + t / 4) * 4 + component / 8;
}

// Entries of an item's nearest list that are searched before any wave.
VAMANA_HD uint32_t batch_alone(uint32_t entries) {
  const uint32_t pieces = (entries + kListBlock - 1) / kListBlock;
  const uint32_t most = pieces > kBatchPieces ? (pieces - kBatchPieces) * kListBlock : 0;
  const uint32_t alone = kBatchAlone > most ? kBatchAlone : most;
  return alone < entries ? alone : entries;
}

// Whether no wave follows. What an item has not searched by then is left.
VAMANA_HD bool last_wave(const ListBatch& batch) { return batch.first + batch.wave >= batch.kept; }

// Units of work of a list: items by kBatchTile, entries by kBatchPart.
VAMANA_HD uint32_t batch_units(uint32_t pairs, uint32_t entries) {
  return (pairs + kBatchTile - 1) / kBatchTile * ((entries + kBatchPart - 1) / kBatchPart);
}

}  // namespace vamana
