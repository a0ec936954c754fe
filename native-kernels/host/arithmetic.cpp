// Arithmetic of the headers, for tests that compare it with Java's.
#include <cstring>

#include "export.h"
#include "vamana/order.h"
#include "vamana/shared_layout.h"

using namespace vamana;

VAMANA_EXPORT uint64_t vamana_make_key(float distance, uint32_t ordinal) {
  return make_key(distance, ordinal);
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
