// Finds accesses of a block's shared memory that no barrier puts in order. compute-sanitizer's racecheck does this on a
// GPU; here it needs none, and it knows the barrier of two warps.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fibers.h"

namespace vamana {

namespace simt {

// The synchronizations that a thread had passed when it made an access. Votes and shuffles do not count: only
// __syncwarp orders memory.
struct Moment {
  uint32_t thread;    // of its block
  uint32_t barriers;  // of the block
  uint32_t syncs;     // __syncwarp of its warp
  uint32_t arrived;   // the thread's calls of pair_arrive
  uint32_t waited;    // the thread's calls of pair_wait
};

// Accesses of one block's shared memory since the block's last barrier, by words of four bytes. A word keeps its last
// write, and what came after it: of each kind and warp the accesses of two lanes, since one of them may access it again.
class Races {
 public:
  explicit Races(size_t bytes) : pages_(bytes / kWord / kPage + 1) {}

  // Notes an access. Returns the earlier one that it races with and itself in words, or nothing.
  std::string access(size_t from, size_t bytes, Access how, const Moment& moment, const void* code) {
    const size_t end = from + bytes;
    for (size_t word = from / kWord; word * kWord < end; word++) {
      Mark own = {moment, code, how, 0};
      for (uint32_t byte = 0; byte < kWord; byte++) {
        const size_t at = word * kWord + byte;
        own.bytes |= at >= from && at < end ? 1u << byte : 0u;
      }
      Cell& cell = of(word);
      if (cell.barriers != moment.barriers) {
        cell.barriers = moment.barriers;
        cell.marks.clear();
      }
      for (const Mark& before : cell.marks) {
        if (races(before, own)) {
          return "a race in word " + std::to_string(word) + " of shared memory: " + text(before) + ", then " +
                 text(own) + ", without a barrier in between";
        }
      }
      add(cell.marks, own);
    }
    return "";
  }

 private:
  struct Mark {
    Moment moment;
    const void* code;
    Access how;
    uint32_t bytes;  // a bit for each
  };

  struct Cell {
    uint32_t barriers = 0;
    std::vector<Mark> marks;
  };

  // Most of the shared memory of most launches is never touched.
  Cell& of(size_t word) {
    std::unique_ptr<Cell[]>& page = pages_[word / kPage];
    if (page == nullptr) {
      page = std::make_unique<Cell[]>(kPage);
    }
    return page[word % kPage];
  }

  static uint32_t warp(const Mark& mark) { return mark.moment.thread / kWarpLanes; }

  // Whether accesses of a word without a barrier of the block in between may happen in any order, and should not.
  static bool races(const Mark& before, const Mark& now) {
    const Moment& a = before.moment;
    const Moment& b = now.moment;
    if (a.thread == b.thread || (before.bytes & now.bytes) == 0 || meet(before.how, now.how)) {
      return false;
    }
    if (warp(before) == warp(now)) {
      return a.syncs == b.syncs;
    }
    // the n-th wait returns after the n-th arrival of the block's first warp
    return warp(before) != 0 || a.arrived >= b.waited;
  }

  // Whether accesses of two kinds may meet.
  static bool meet(Access one, Access other) {
    return one == other ? one != kWrite : one != kWrite && other != kWrite && (one == kExchange || other == kExchange);
  }

  static void add(std::vector<Mark>& marks, const Mark& own) {
    uint32_t others = 0;
    const auto replaced = [&](const Mark& mark) {
      if ((mark.bytes & ~own.bytes) != 0) {
        return false;
      }
      if (own.how == kWrite) {
        return true;  // what comes before it, as nothing has raced with it
      }
      return mark.how == own.how &&
             (mark.moment.thread == own.moment.thread ||
              (warp(mark) == warp(own) && (mark.moment.syncs != own.moment.syncs || ++others > 1)));
    };
    marks.erase(std::remove_if(marks.begin(), marks.end(), replaced), marks.end());
    marks.push_back(own);
  }

  static std::string text(const Mark& mark) {
    static const char* const kNames[] = {"a read", "a write", "an atomic change", "an exchange"};
    return std::string(kNames[mark.how]) + " by thread " + std::to_string(mark.moment.thread) + " at " +
           place(mark.code);
  }

  // Where code is in the library's file, for addr2line.
  static std::string place(const void* code);

  static constexpr uint32_t kWarpLanes = 32;
  static constexpr size_t kWord = 4;
  static constexpr size_t kPage = 64;

  std::vector<std::unique_ptr<Cell[]>> pages_;
};

}  // namespace simt

}  // namespace vamana
