#include "visited_host.h"

#include "vamana/types.h"
#include "vamana/visited.h"

namespace vamana {

namespace {

bool add(uint32_t* slots, uint32_t slot_count, uint32_t ordinal) {
  uint32_t* bucket = slots + visited_bucket(ordinal, slot_count);
  const uint32_t found[kBucket] = {bucket[0], bucket[1], bucket[2], bucket[3]};
  const uint32_t place = visited_place(found, ordinal);
  if (place == kBucket) {
    return false;
  }
  bucket[place] = visited_mark(ordinal);
  return true;
}

}  // namespace

void visited_add(uint32_t* slots, uint32_t slot_count, const uint32_t* ordinals, uint32_t count,
                 uint32_t stride, bool* fresh) {
  for (uint32_t first = 0; first < stride; first++) {
    for (uint32_t i = first; i < count; i += stride) {
      fresh[i] = ordinals[i] != kUnusedSlot && add(slots, slot_count, ordinals[i]);
    }
  }
}

}  // namespace vamana
