// Where the fields of the parameter blocks lie, for the comparison with Java's layouts.
#include <cstddef>
#include <cstring>

#include "export.h"
#include "vamana/build.h"
#include "vamana/bytes.h"
#include "vamana/convert.h"
#include "vamana/exact_scan.h"
#include "vamana/host_fetch.h"
#include "vamana/kmeans.h"
#include "vamana/list_batch.h"
#include "vamana/list_layout.h"
#include "vamana/list_team.h"
#include "vamana/lists.h"
#include "vamana/probe.h"
#include "vamana/select/sample.h"
#include "vamana/select/select.h"
#include "vamana/shared_layout.h"
#include "vamana/types.h"
#include "vamana/visited.h"

namespace {

using namespace vamana;

struct Field {
  const char* name;  // Struct, or Struct.field
  size_t offset;
  size_t size;
};

#define STRUCT(type) {#type, 0, sizeof(type)}
#define SELECT_FIELD(field) \
  {"Select." #field, offsetof(select::Select, field), sizeof(select::Select::field)}
#define FIELD(type, field) {#type "." #field, offsetof(type, field), sizeof(type::field)}

constexpr Field kFields[] = {
    STRUCT(Segment),
    FIELD(Segment, graph),
    FIELD(Segment, vectors),
    FIELD(Segment, raw),
    FIELD(Segment, codes),
    FIELD(Segment, columns),
    FIELD(Segment, centroid_norms),
    FIELD(Segment, size),
    FIELD(Segment, dimension),
    FIELD(Segment, graph_stride),
    FIELD(Segment, medoid),
    FIELD(Segment, vector_stride),
    FIELD(Segment, raw_stride),
    FIELD(Segment, code_stride),
    FIELD(Segment, subspaces),
    FIELD(Segment, similarity),
    FIELD(Segment, vector_format),
    FIELD(Segment, raw_format),
    FIELD(Segment, byte_scoring),
    FIELD(Segment, vector_facts),
    FIELD(Segment, vector_center),
    FIELD(Segment, whole_copies),
    FIELD(Segment, reserved),
    STRUCT(Lists),
    FIELD(Lists, centroids),
    FIELD(Lists, facts),
    FIELD(Lists, starts),
    FIELD(Lists, numbers),
    FIELD(Lists, entries),
    FIELD(Lists, signs),
    FIELD(Lists, turned),
    FIELD(Lists, matrices),
    FIELD(Lists, lists),
    FIELD(Lists, padded),
    FIELD(Lists, bits),
    FIELD(Lists, rounds),
    FIELD(Lists, transformed),
    FIELD(Lists, estimates),
    FIELD(Lists, spread),
    FIELD(Lists, quantile),
    FIELD(Lists, head_bytes),
    FIELD(Lists, tail_bytes),
    STRUCT(RotatedComponent),
    FIELD(RotatedComponent, first),
    FIELD(RotatedComponent, length),
    FIELD(RotatedComponent, at),
    FIELD(RotatedComponent, reserved),
    STRUCT(ListSearch),
    FIELD(ListSearch, items),
    FIELD(ListSearch, counter),
    FIELD(ListSearch, scratch),
    FIELD(ListSearch, scratch_stride),
    FIELD(ListSearch, count),
    FIELD(ListSearch, width),
    FIELD(ListSearch, lists),
    FIELD(ListSearch, padded),
    FIELD(ListSearch, dimension),
    FIELD(ListSearch, subspaces),
    FIELD(ListSearch, flags),
    FIELD(ListSearch, team),
    FIELD(ListSearch, teams),
    STRUCT(ListBatch),
    FIELD(ListBatch, search),
    FIELD(ListBatch, memory),
    FIELD(ListBatch, segment),
    FIELD(ListBatch, rest),
    FIELD(ListBatch, lists),
    FIELD(ListBatch, padded),
    FIELD(ListBatch, kept),
    FIELD(ListBatch, room),
    FIELD(ListBatch, first),
    FIELD(ListBatch, wave),
    FIELD(ListBatch, from),
    FIELD(ListBatch, rows),
    STRUCT(Build),
    FIELD(Build, segment),
    FIELD(Build, vectors),
    FIELD(Build, graph),
    FIELD(Build, nodes),
    FIELD(Build, found),
    FIELD(Build, items),
    FIELD(Build, addresses),
    FIELD(Build, counters),
    FIELD(Build, arrivals),
    FIELD(Build, starts),
    FIELD(Build, runs),
    FIELD(Build, sources),
    FIELD(Build, inverse_norms),
    FIELD(Build, first),
    FIELD(Build, count),
    FIELD(Build, size),
    FIELD(Build, dimension),
    FIELD(Build, vector_stride),
    FIELD(Build, graph_stride),
    FIELD(Build, max_degree),
    FIELD(Build, slots),
    FIELD(Build, beam),
    FIELD(Build, parents),
    FIELD(Build, candidates),
    FIELD(Build, alpha),
    STRUCT(Item),
    FIELD(Item, segment),
    FIELD(Item, query),
    FIELD(Item, accepted),
    FIELD(Item, entry_points),
    FIELD(Item, result),
    FIELD(Item, entry_count),
    FIELD(Item, k),
    FIELD(Item, beam),
    FIELD(Item, parents),
    FIELD(Item, rerank),
    FIELD(Item, visit_limit),
    FIELD(Item, capacity),
    FIELD(Item, reserved),
    STRUCT(Result),
    FIELD(Result, count),
    FIELD(Result, visited),
    FIELD(Result, flags),
    FIELD(Result, iterations),
    STRUCT(Walk),
    FIELD(Walk, items),
    FIELD(Walk, counter),
    FIELD(Walk, scratch),
    FIELD(Walk, scratch_stride),
    FIELD(Walk, count),
    FIELD(Walk, list_capacity),
    FIELD(Walk, fresh_capacity),
    FIELD(Walk, visited_slots),
    FIELD(Walk, dimension),
    FIELD(Walk, subspaces),
    FIELD(Walk, expanded_capacity),
    FIELD(Walk, flags),
    STRUCT(Range),
    FIELD(Range, source),
    FIELD(Range, result),
    FIELD(Range, rows),
    FIELD(Range, dimension),
    FIELD(Range, source_stride),
    STRUCT(RangeResult),
    FIELD(RangeResult, highest),
    FIELD(RangeResult, lowest),
    FIELD(RangeResult, flags),
    FIELD(RangeResult, reserved),
    STRUCT(Convert),
    FIELD(Convert, source),
    FIELD(Convert, target),
    FIELD(Convert, rows),
    FIELD(Convert, dimension),
    FIELD(Convert, source_stride),
    FIELD(Convert, target_stride),
    FIELD(Convert, unit),
    FIELD(Convert, center),
    FIELD(Convert, facts),
    FIELD(Convert, result),
    STRUCT(Probe),
    FIELD(Probe, source),
    FIELD(Probe, target),
    FIELD(Probe, rows),
    FIELD(Probe, row_bytes),
    FIELD(Probe, chains),
    FIELD(Probe, hops),
    FIELD(Probe, seed),
    FIELD(Probe, reserved),
    STRUCT(FetchState),
    FIELD(FetchState, segment),
    FIELD(FetchState, codes),
    FIELD(FetchState, pick_key),
    FIELD(FetchState, size),
    FIELD(FetchState, code_stride),
    FIELD(FetchState, subspaces),
    FIELD(FetchState, beam),
    FIELD(FetchState, visit_limit),
    FIELD(FetchState, visited),
    FIELD(FetchState, iterations),
    FIELD(FetchState, list_size),
    FIELD(FetchState, cursor),
    FIELD(FetchState, fresh_count),
    FIELD(FetchState, flags),
    FIELD(FetchState, picked),
    STRUCT(HostFetch),
    FIELD(HostFetch, items),
    FIELD(HostFetch, states),
    FIELD(HostFetch, tables),
    FIELD(HostFetch, lists),
    FIELD(HostFetch, keys),
    FIELD(HostFetch, ids),
    FIELD(HostFetch, visited),
    FIELD(HostFetch, slots),
    FIELD(HostFetch, rows),
    FIELD(HostFetch, picks),
    FIELD(HostFetch, count),
    FIELD(HostFetch, table_stride),
    FIELD(HostFetch, list_capacity),
    FIELD(HostFetch, fresh_capacity),
    FIELD(HostFetch, visited_slots),
    FIELD(HostFetch, row_stride),
    FIELD(HostFetch, parents),
    FIELD(HostFetch, flags),
    STRUCT(FetchGroup),
    FIELD(FetchGroup, slot),
    FIELD(FetchGroup, first),
    FIELD(FetchGroup, count),
    FIELD(FetchGroup, reserved),
    STRUCT(FetchRerank),
    FIELD(FetchRerank, items),
    FIELD(FetchRerank, groups),
    FIELD(FetchRerank, ordinals),
    FIELD(FetchRerank, rows),
    FIELD(FetchRerank, vectors),
    FIELD(FetchRerank, count),
    FIELD(FetchRerank, vector_stride),
    FIELD(FetchRerank, list_capacity),
    FIELD(FetchRerank, dimension),
    STRUCT(ExactFacts),
    FIELD(ExactFacts, largest_norm),
    FIELD(ExactFacts, flags),
    FIELD(ExactFacts, skipped),
    FIELD(ExactFacts, reserved),
    STRUCT(ExactMany),
    FIELD(ExactMany, scans),
    FIELD(ExactMany, blocks),
    FIELD(ExactMany, count),
    FIELD(ExactMany, reserved),
    STRUCT(ExactBlock),
    FIELD(ExactBlock, scan),
    FIELD(ExactBlock, part),
    FIELD(ExactBlock, parts),
    FIELD(ExactBlock, reserved),
    STRUCT(ExactScan),
    FIELD(ExactScan, rows),
    FIELD(ExactScan, queries),
    FIELD(ExactScan, accepted),
    FIELD(ExactScan, ordinals),
    FIELD(ExactScan, scores),
    FIELD(ExactScan, found),
    FIELD(ExactScan, joined),
    FIELD(ExactScan, earlier),
    FIELD(ExactScan, parts),
    FIELD(ExactScan, ticket),
    FIELD(ExactScan, copies),
    FIELD(ExactScan, targets),
    FIELD(ExactScan, biases),
    FIELD(ExactScan, thresholds),
    FIELD(ExactScan, counts),
    FIELD(ExactScan, slacks),
    FIELD(ExactScan, buffers),
    FIELD(ExactScan, facts),
    FIELD(ExactScan, redo),
    FIELD(ExactScan, score_stride),
    FIELD(ExactScan, candidates),
    FIELD(ExactScan, query_count),
    FIELD(ExactScan, dimension),
    FIELD(ExactScan, row_stride),
    FIELD(ExactScan, query_stride),
    FIELD(ExactScan, copy_stride),
    FIELD(ExactScan, similarity),
    FIELD(ExactScan, byte_scoring),
    FIELD(ExactScan, first_ordinal),
    FIELD(ExactScan, size),
    FIELD(ExactScan, k),
    FIELD(ExactScan, capacity),
    FIELD(ExactScan, first_tile),
    FIELD(ExactScan, tile_count),
    FIELD(ExactScan, tiles),
    FIELD(ExactScan, tile_step),
    FIELD(ExactScan, packed),
    FIELD(ExactScan, format),
    FIELD(ExactScan, scale),
    FIELD(ExactScan, reserved),
    FIELD(ExactScan, selected_keys),
    FIELD(ExactScan, selected_candidates),
    {"Select", 0, sizeof(select::Select)},
    SELECT_FIELD(keys),
    SELECT_FIELD(ids),
    SELECT_FIELD(out_keys),
    SELECT_FIELD(out_ids),
    SELECT_FIELD(scratch),
    SELECT_FIELD(rows),
    SELECT_FIELD(n),
    SELECT_FIELD(stride),
    SELECT_FIELD(k),
    SELECT_FIELD(partitions),
    SELECT_FIELD(margin),
    SELECT_FIELD(capacity),
    SELECT_FIELD(run),
    SELECT_FIELD(array),
    SELECT_FIELD(reserved),
    STRUCT(KMeansState),
    FIELD(KMeansState, random),
    FIELD(KMeansState, before),
    FIELD(KMeansState, error),
    FIELD(KMeansState, done),
    FIELD(KMeansState, reserved),
    STRUCT(KMeans),
    FIELD(KMeans, rows),
    FIELD(KMeans, centroids),
    FIELD(KMeans, codes),
    FIELD(KMeans, assigned),
    FIELD(KMeans, errors),
    FIELD(KMeans, counts),
    FIELD(KMeans, order),
    FIELD(KMeans, starts),
    FIELD(KMeans, parts),
    FIELD(KMeans, sums),
    FIELD(KMeans, states),
    FIELD(KMeans, candidates),
    FIELD(KMeans, columns),
    FIELD(KMeans, chunk_errors),
    FIELD(KMeans, fixed),
    FIELD(KMeans, keys),
    FIELD(KMeans, count),
    FIELD(KMeans, capacity),
    FIELD(KMeans, tolerance),
    FIELD(KMeans, dims),
    FIELD(KMeans, subspaces),
    FIELD(KMeans, k),
    FIELD(KMeans, row_stride),
    FIELD(KMeans, pool),
    FIELD(KMeans, part_capacity),
    FIELD(KMeans, max_length),
    FIELD(KMeans, fixed_stride),
    FIELD(KMeans, first),
    FIELD(KMeans, step),
};

struct Constant {
  const char* name;
  uint32_t value;
};

#define CONSTANT(name) {#name, name}

constexpr Constant kConstants[] = {
    CONSTANT(kEuclidean),
    CONSTANT(kDotProduct),
    CONSTANT(kCosine),
    CONSTANT(kMaximumInnerProduct),
    CONSTANT(kFloat32),
    CONSTANT(kFloat16),
    CONSTANT(kByte),
    CONSTANT(kUnusedSlot),
    CONSTANT(kCentroids),
    CONSTANT(kMaxDegree),
    CONSTANT(kMaxSubspaces),
    CONSTANT(kMaxDimension),
    CONSTANT(kMaxBeamWidth),
    CONSTANT(kMaxParents),
    CONSTANT(kComplete),
    CONSTANT(kCorrupt),
    CONSTANT(kApproximate),
    CONSTANT(kOverflow),
    CONSTANT(kExactFloat32),
    CONSTANT(kExactFloat16),
    CONSTANT(kExactByte),
    CONSTANT(kTableHalf),
    CONSTANT(kTableFloat),
    CONSTANT(kTableFloatGlobal),
    CONSTANT(kEagerPick),
    CONSTANT(kNoVisitedFilter),
    CONSTANT(kSideBySide),
    CONSTANT(kLimited),
    CONSTANT(kUnlimited),
    CONSTANT(kPickMerged),
    CONSTANT(kStopped),
    CONSTANT(kRerankPass),
    CONSTANT(kFractions),
    CONSTANT(kNotFinite),
    CONSTANT(kRounded),
    CONSTANT(kWholeDimension),
    CONSTANT(kControlBytes),
    CONSTANT(kListsOffset),
    CONSTANT(kListBlock),
    CONSTANT(kListGroup),
    CONSTANT(kListControlBytes),
    CONSTANT(kListSharedLists),
    CONSTANT(kListScored),
    CONSTANT(kListCandidates),
    CONSTANT(kListWave),
    CONSTANT(kWaveCandidates),
    CONSTANT(kListsOfGroup),
    CONSTANT(kOpenListBytes),
    CONSTANT(kWaveControlBytes),
    CONSTANT(kMostTeam),
    CONSTANT(kListTeamBytes),
    CONSTANT(kTeamWave),
    CONSTANT(kListBits),
    CONSTANT(kListTable),
    CONSTANT(kListTableGlobal),
    CONSTANT(kQuantizedBits),
    CONSTANT(kBatchWave),
    CONSTANT(kMaxBatchKept),
    CONSTANT(kMaxBatchRoom),
    CONSTANT(kMaxBatchPadded),
    CONSTANT(kBatchMeasureBytes),
    CONSTANT(kBatchKeepBytes),
    CONSTANT(kBatchScanBytes),
    CONSTANT(kMaxDynamicShared),
    CONSTANT(kExactNan),
    CONSTANT(kExactFewHits),
    CONSTANT(kExactParts),
    CONSTANT(kExactNearestBytes),
    CONSTANT(kExactTile),
    CONSTANT(kExactDepth),
    CONSTANT(kExactStages),
    CONSTANT(kExactStageBytes),
    CONSTANT(kExactHalf),
    CONSTANT(kExactUnsigned),
    CONSTANT(kExactSigned),
    CONSTANT(kKMeansChunk),
    CONSTANT(kKMeansPart),
    CONSTANT(kKMeansShortRows),
    CONSTANT(kKMeansTileRows),
    CONSTANT(kKMeansMaxCentroids),
    CONSTANT(kKMeansShortPool),
    CONSTANT(kKMeansByteStep),
    CONSTANT(kBuildChunk),
    CONSTANT(kBuildCounters),
    CONSTANT(kBuildItem),
};

}  // namespace

// The constant of this name; -1 for those that there are not.
VAMANA_EXPORT int64_t vamana_constant(const char* name) {
  for (const Constant& constant : kConstants) {
    if (std::strcmp(constant.name, name) == 0) {
      return constant.value;
    }
  }
  return -1;
}

VAMANA_EXPORT int vamana_field_count() { return sizeof kFields / sizeof kFields[0]; }

VAMANA_EXPORT const char* vamana_field_name(int field) { return kFields[field].name; }

VAMANA_EXPORT int vamana_field_offset(int field) { return static_cast<int>(kFields[field].offset); }

VAMANA_EXPORT int vamana_field_size(int field) { return static_cast<int>(kFields[field].size); }

// Dynamic shared memory of host_fetch_begin (0), of the kernels of a step (1), of host_fetch_rerank
// (2); capacity is that of new keys or of the worklist.
VAMANA_EXPORT int vamana_fetch_shared_bytes(int kernel, int capacity, int dimension) {
  uint32_t bytes = kernel == 0   ? begin_shared_bytes(dimension)
                   : kernel == 1 ? step_shared_bytes(capacity)
                                 : rerank_shared_bytes(capacity, dimension);
  return static_cast<int>(bytes);
}

// Bytes of scratch: counters and parts of select_bits_* (0), a row of Sample Select with room for
// partitions pairs (1), a row of select_bits_global (2).
VAMANA_EXPORT int64_t vamana_select_scratch_bytes(int kind, int rows, int partitions, int k) {
  return static_cast<int64_t>(kind == 0   ? select::partition_scratch_bytes(rows, partitions, k)
                              : kind == 1 ? select::sample_row_bytes(partitions)
                                          : select::global_size(k) * 8ull);
}

VAMANA_EXPORT uint32_t vamana_list_shared_bytes(const ListSearch* search, uint32_t waves,
                                                uint32_t codes) {
  return list_layout(*search, waves != 0, codes).bytes;
}

VAMANA_EXPORT uint64_t vamana_list_scratch_bytes(const ListSearch* search, uint32_t waves,
                                                 uint32_t codes) {
  return list_scratch_bytes(*search, waves != 0, codes);
}

// Memory of a batch of searches of lists (0), shared memory of steps: items (1), scores (2), estimates (3).
VAMANA_EXPORT uint64_t vamana_list_batch_bytes(const ListBatch* batch, uint32_t part) {
  return part == 0   ? list_batch_layout(*batch).bytes
         : part == 1 ? batch_item_bytes(*batch)
         : part == 2 ? batch_score_bytes(*batch)
                     : batch_estimate_bytes(*batch);
}
