// Arithmetic of the headers, for tests that compare it with Java's.
#include <cstring>

#include "export.h"
#include "half.h"
#include "vamana/bytes.h"
#include "vamana/convert.h"
#include "vamana/order.h"
#include "vamana/shared_layout.h"
#include "vamana/table.h"
#include "vamana/visited.h"

using namespace vamana;

VAMANA_EXPORT uint64_t vamana_make_key(float distance, uint32_t ordinal) {
  return make_key(distance, ordinal);
}

VAMANA_EXPORT uint32_t vamana_to_half(float value) { return to_half(value); }

VAMANA_EXPORT float vamana_half_value(uint32_t half) {
  return half_value(static_cast<uint16_t>(half));
}

VAMANA_EXPORT uint32_t vamana_subspace_offset(uint32_t dimension, uint32_t subspaces,
                                              uint32_t subspace) {
  return subspace_offset(dimension, subspaces, subspace);
}

// Offsets of list, keys, ids, visited set, query and table in shared memory, and all its bytes.
VAMANA_EXPORT void vamana_shared_layout(uint32_t policy, const Walk* walk, uint32_t* offsets) {
  const SharedLayout layout = shared_layout(policy, *walk);
  const uint32_t all[] = {layout.list,  layout.keys,  layout.ids,  layout.visited,
                          layout.query, layout.table, layout.bytes};
  std::memcpy(offsets, all, sizeof all);
}

VAMANA_EXPORT uint64_t vamana_scratch_bytes(uint32_t policy, const Walk* walk) {
  return scratch_bytes(policy, *walk);
}
