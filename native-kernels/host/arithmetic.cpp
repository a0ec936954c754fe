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

VAMANA_EXPORT uint32_t vamana_key_ordinal(uint64_t key) { return key_ordinal(key); }

VAMANA_EXPORT float vamana_key_distance(uint64_t key) { return key_distance(key); }

VAMANA_EXPORT uint32_t vamana_visited_bucket(uint32_t ordinal, uint32_t slots) {
  return visited_bucket(ordinal, slots);
}

// The step of a query whose largest component this is.
VAMANA_EXPORT float vamana_query_step(float largest) { return query_step(largest); }

// A component of a query as its bytes represent it.
VAMANA_EXPORT float vamana_query_component(float component, float step) {
  const int32_t steps = query_steps(component, step);
  return step * static_cast<float>(256 * static_cast<int8_t>(high_byte(steps)) +
                                   static_cast<int8_t>(low_byte(steps)));
}

VAMANA_EXPORT uint32_t vamana_to_half(float value) { return to_half(value); }

VAMANA_EXPORT float vamana_half_value(uint32_t half) {
  return half_value(static_cast<uint16_t>(half));
}

VAMANA_EXPORT float vamana_fixed_scale(float range) { return fixed_scale(range); }

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
