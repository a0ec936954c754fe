#include "visited_host.h"

#include <algorithm>

#include "vamana/types.h"
#include "vamana/visited.h"

namespace vamana {

namespace {

// What becomes of a node of a turn.
struct Put {
  uint32_t* slot;   // null if the node was there
  uint32_t before;  // what the slot held when the turn began
  uint32_t ordinal;
};

}  // namespace

void visited_add(uint32_t* slots, uint32_t slot_count, const uint32_t* ordinals, uint32_t count,
                 uint32_t turns, bool* fresh) {
  std::fill(fresh, fresh + count, false);
  for (uint32_t turn = 0; turn < turns; turn++) {
    Put puts[32];
    uint32_t taken = 0;
    for (uint32_t i = turn; i < count; i += turns) {
      const uint32_t ordinal = ordinals[i];
      const bool twice = std::any_of(puts, puts + taken, [ordinal](const Put& put) {
        return put.ordinal == ordinal;
      });
      if (ordinal == kUnusedSlot || twice) {
        continue;
      }
      uint32_t* first = slots + visited_bucket(ordinal, slot_count);
      const uint32_t bucket[kBucket] = {first[0], first[1], first[2], first[3]};
      const uint32_t place = visited_place(bucket, ordinal);
      fresh[i] = place < kBucket;
      puts[taken++] = fresh[i] ? Put{first + place, first[place], ordinal}
                               : Put{nullptr, 0, ordinal};
    }
    for (uint32_t i = 0; i < taken; i++) {
      const Put& put = puts[i];
      const uint32_t mark = visited_mark(put.ordinal);
      if (put.slot != nullptr && (*put.slot == put.before || mark < *put.slot)) {
        *put.slot = mark;
      }
    }
  }
}

}  // namespace vamana
