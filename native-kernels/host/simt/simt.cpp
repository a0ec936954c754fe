// jumps between stacks are what the checked variant of longjmp refuses
#undef _FORTIFY_SOURCE

#include "simt.h"

#include <setjmp.h>
#include <ucontext.h>

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

namespace vamana {
namespace simt {

thread_local Place place;

namespace {

constexpr size_t kStackBytes = 128 << 10;

struct Thread {
  ucontext_t begin;
  jmp_buf state;
  std::unique_ptr<char[]> stack;
  bool begun = false;
  bool ended = false;
  const uint32_t* gate = nullptr;  // it waits until this is no longer `closed`
  uint32_t closed = 0;
  uint32_t exchanges = 0;
};

// What the lanes of a warp have brought to their last two exchanges: a lane that is one ahead does not
// overwrite what others still read.
struct Warp {
  uint32_t values[2][kWarp * kWords];
  uint32_t arrived = 0;
  uint32_t done = 0;  // exchanges
};

class Scheduler {
 public:
  Scheduler(uint32_t threads, uint64_t seed, const std::function<void()>& body)
      : threads_(threads), warps_((threads + kWarp - 1) / kWarp), random_(seed), body_(body) {
    for (Thread& thread : threads_) {
      thread.stack.reset(new char[kStackBytes]);
    }
  }

  std::string run_block(uint32_t block, uint32_t blocks);

  void wait(const uint32_t* gate, uint32_t closed) {
    Thread& own = threads_[current_];
    own.gate = gate;
    own.closed = closed;
    if (_setjmp(own.state) == 0) {
      _longjmp(scheduler_, 1);
    }
  }

  void barrier() {
    const uint32_t closed = barriers_;
    if (++at_barrier_ == threads_.size()) {
      at_barrier_ = 0;
      barriers_++;
    } else {
      wait(&barriers_, closed);
    }
  }

  const uint32_t* exchange(const uint32_t* own, uint32_t words) {
    Thread& thread = threads_[current_];
    Warp& warp = warps_[current_ / kWarp];
    uint32_t* values = warp.values[thread.exchanges++ % 2];
    std::copy(own, own + words, values + current_ % kWarp * kWords);
    const uint32_t closed = warp.done;
    if (++warp.arrived == kWarp) {
      warp.arrived = 0;
      warp.done++;
    } else {
      wait(&warp.done, closed);
    }
    return values;
  }

  void live() {
    body_();
    threads_[current_].ended = true;
    _longjmp(scheduler_, 1);
  }

 private:
  void resume(uint32_t thread);

  std::vector<Thread> threads_;
  std::vector<Warp> warps_;
  std::mt19937_64 random_;
  const std::function<void()>& body_;
  jmp_buf scheduler_;
  ucontext_t home_;
  uint32_t current_ = 0;
  uint32_t at_barrier_ = 0;
  uint32_t barriers_ = 0;
  uint32_t block_ = 0;
  uint32_t blocks_ = 0;
};

thread_local Scheduler* scheduler = nullptr;

void live_thread() { scheduler->live(); }

void Scheduler::resume(uint32_t number) {
  Thread& thread = threads_[number];
  current_ = number;
  place = {{number, 0, 0}, {block_, 0, 0}, {blocks_, 1, 1}};
  if (_setjmp(scheduler_) != 0) {
    return;
  }
  if (thread.begun) {
    _longjmp(thread.state, 1);
  }
  thread.begun = true;
  getcontext(&thread.begin);
  thread.begin.uc_stack.ss_sp = thread.stack.get();
  thread.begin.uc_stack.ss_size = kStackBytes;
  thread.begin.uc_link = nullptr;
  makecontext(&thread.begin, live_thread, 0);
  swapcontext(&home_, &thread.begin);
}

std::string Scheduler::run_block(uint32_t block, uint32_t blocks) {
  block_ = block;
  blocks_ = blocks;
  barriers_ = 0;
  at_barrier_ = 0;
  for (Thread& thread : threads_) {
    thread.begun = thread.ended = false;
    thread.gate = nullptr;
    thread.exchanges = 0;
  }
  for (Warp& warp : warps_) {
    warp.arrived = warp.done = 0;
  }
  std::vector<uint32_t> order(warps_.size());
  for (uint32_t warp = 0; warp < order.size(); warp++) {
    order[warp] = warp;
  }
  while (true) {
    std::shuffle(order.begin(), order.end(), random_);
    bool moved = false;
    bool left = false;
    for (uint32_t warp : order) {
      for (uint32_t lane = 0; lane < kWarp; lane++) {
        const uint32_t number = warp * kWarp + lane;
        Thread& thread = threads_[number];
        left = left || !thread.ended;
        if (!thread.ended && (thread.gate == nullptr || *thread.gate != thread.closed)) {
          thread.gate = nullptr;
          moved = true;
          resume(number);
        }
      }
    }
    if (!left) {
      return "";
    }
    if (!moved) {
      return "threads of block " + std::to_string(block) + " wait for others that have ended";
    }
  }
}

}  // namespace

std::string run(uint32_t blocks, uint32_t threads, uint64_t seed,
                const std::function<void()>& body) {
  if (threads == 0 || threads % kWarp != 0) {
    return std::to_string(threads) + " threads";
  }
  Scheduler own(threads, seed, body);
  scheduler = &own;
  std::string wrong;
  for (uint32_t block = 0; block < blocks && wrong.empty(); block++) {
    wrong = own.run_block(block, blocks);
  }
  scheduler = nullptr;
  return wrong;
}

void block_barrier() { scheduler->barrier(); }

const uint32_t* exchange(const uint32_t* own, uint32_t words) {
  return scheduler->exchange(own, words);
}

}  // namespace simt
}  // namespace vamana
