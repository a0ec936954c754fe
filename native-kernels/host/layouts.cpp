// Constants of the headers and sizes of memory, for the comparison with Java's.
#include <cstdint>
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
#include "vamana/select/select.h"
#include "vamana/shared_layout.h"
#include "vamana/types.h"
#include "vamana/visited.h"

namespace {

using namespace vamana;

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
    CONSTANT(kSideBySide),
    CONSTANT(kLimited),
    CONSTANT(kUnlimited),
    CONSTANT(kFetchThreads),
    CONSTANT(kStopped),
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
    CONSTANT(kBuildChunk),
    CONSTANT(kBuildCounters),
    CONSTANT(kBuildItem),
};

}  // namespace

// Returns the constant of this name, or -1 if there is no such constant.
VAMANA_EXPORT int64_t vamana_constant(const char* name) {
  for (const Constant& constant : kConstants) {
    if (std::strcmp(constant.name, name) == 0) {
      return constant.value;
    }
  }
  return -1;
}

// Dynamic shared memory of host_fetch_begin (0) and of host_fetch_step (1).
VAMANA_EXPORT int vamana_fetch_shared_bytes(int kernel, int capacity, int dimension) {
  return static_cast<int>(kernel == 0 ? begin_shared_bytes(dimension) : step_shared_bytes(capacity));
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
