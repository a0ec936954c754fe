// Runs the threads of a launch as fibers.
#include <sys/mman.h>
#if !defined(__x86_64__)
#include <ucontext.h>
#endif

#include <algorithm>
#include <cstdio>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "fibers.h"
#include "races.h"
#include "simt.h"

VAMANA_SIMT_INDEX threadIdx;
VAMANA_SIMT_INDEX blockIdx;
VAMANA_SIMT_INDEX blockDim;
VAMANA_SIMT_INDEX gridDim;
thread_local vamana::simt::Watched vamana::simt::watched;

// where this library begins in memory
extern "C" const char __ehdr_start __attribute__((visibility("hidden")));

#if defined(__x86_64__)
// Saves the registers that a call has to preserve, and switches to another stack. swapcontext would make a system call.
asm(R"(
.text
.type vamana_simt_switch, @function
vamana_simt_switch:
  push %rbp
  push %rbx
  push %r12
  push %r13
  push %r14
  push %r15
  mov %rsp, (%rdi)
  mov (%rsi), %rsp
  pop %r15
  pop %r14
  pop %r13
  pop %r12
  pop %rbx
  pop %rbp
  ret
)");
extern "C" __attribute__((visibility("hidden"))) void vamana_simt_switch(void** from, void** to);
#endif

namespace vamana {

namespace simt {

namespace {

#if defined(__x86_64__)
using Context = void*;

void switch_context(Context& from, Context& to) { vamana_simt_switch(&from, &to); }

void make_context(Context& context, uint8_t* stack, size_t bytes, void (*entry)()) {
  // as after a call: registers, the entry to return to, and no address to return to from there
  void** top = reinterpret_cast<void**>(stack + bytes - 64);
  top[-1] = nullptr;
  top[-2] = reinterpret_cast<void*>(entry);
  for (int i = 3; i <= 8; i++) {
    top[-i] = nullptr;
  }
  context = top - 8;
}
#else
using Context = ucontext_t;

void switch_context(Context& from, Context& to) { swapcontext(&from, &to); }

void make_context(Context& context, uint8_t* stack, size_t bytes, void (*entry)()) {
  getcontext(&context);
  context.uc_stack.ss_sp = stack;
  context.uc_stack.ss_size = bytes;
  context.uc_link = nullptr;
  makecontext(&context, entry, 0);
}
#endif

constexpr size_t kStackBytes = 128 << 10;

// Launches of up to this many threads leave their stacks to the next launch. Touching new pages took an eighth of the time
// of a search of lists.
constexpr size_t kKeptStacks = 4096;

// Exchanges of a warp's lanes after which other warps run, in launches that do not look for races.
constexpr uint32_t kLongTurn = 1000;

// Stacks of threads, of which pages take memory only when they are touched.
class Stacks {
 public:
  explicit Stacks(size_t threads)
      : bytes_(threads * kStackBytes),
        memory_(static_cast<uint8_t*>(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))) {
    if (memory_ == MAP_FAILED) {
      throw std::runtime_error("no memory for stacks");
    }
  }
  ~Stacks() { munmap(memory_, bytes_); }
  Stacks(const Stacks&) = delete;
  Stacks& operator=(const Stacks&) = delete;

  uint8_t* of(size_t thread) const { return memory_ + thread * kStackBytes; }
  bool room(size_t threads) const { return threads * kStackBytes <= bytes_; }

 private:
  size_t bytes_;
  uint8_t* memory_;
};

thread_local std::unique_ptr<Stacks> kept;

struct Block;

struct Warp {
  Block* block;
  uint32_t ready = kAll32;  // lanes that may run
  uint32_t arrived = 0;     // lanes that wait for the others
  uint32_t ended = 0;
  Exchange kind = kSync;
  uint32_t turn = 0;
  uint32_t syncs = 0;
  uint64_t values[2][kLanes * kLaneWords];

  static constexpr uint32_t kAll32 = 0xFFFFFFFFu;
};

struct Block {
  uint32_t number;
  std::vector<Warp> warps;
  uint32_t at_barrier = 0;
  uint32_t barriers = 0;
  uint32_t pair_arrived = 0;     // threads of first warps that called pair_arrive
  uint32_t pair_passed = 0;      // threads of last warps that waited for them
  uint32_t counted[2] = {0, 0};  // threads that say yes at a barrier and at the next one
  uint32_t ended = 0;
  std::vector<uint8_t> shared;
  std::unique_ptr<Races> races;  // of kernels that tell their accesses
};

class Launch;
thread_local Launch* running __attribute__((tls_model("initial-exec")));

class Launch {
 public:
  Launch(const std::function<void()>& body, const Grid& grid)
      : body_(body), grid_(grid), random_(grid.seed), blocks_(grid.one_by_one ? 1 : grid.blocks) {
    // one by one, blocks use the same stacks
    const size_t threads = size_t{grid.one_by_one ? 1 : grid.blocks} * grid.warps * kLanes;
    stacks_ = std::move(kept);
    if (stacks_ == nullptr || stacks_->room(threads) == false) {
      stacks_ = std::make_unique<Stacks>(threads);
    }
    contexts_.resize(threads);
    pairs_.resize(threads);
    for (uint32_t b = 0; b < blocks_.size(); b++) {
      begin(blocks_[b], b);
    }
  }

  ~Launch() {
    if (contexts_.size() <= kKeptStacks) {
      kept = std::move(stacks_);
    }
  }

  std::string run() {
    Launch* outer = running;
    running = this;
    gridDim.x = grid_.blocks;
    blockDim.x = grid_.warps * kLanes;
    uint32_t left = grid_.blocks;
    uint64_t idle = 0;
    while (left > 0 && wrong_.empty()) {
      Block& block = blocks_[random_() % blocks_.size()];
      // a block runs for a while, so that others may be far ahead or behind
      const uint32_t turns = grid_.one_by_one ? 1024 : 1 + random_() % 256;
      bool moved = false;
      for (uint32_t turn = 0; turn < turns && wrong_.empty(); turn++) {
        moved = run_some(block) || moved;
      }
      if (block.ended == block.warps.size() * kLanes) {
        block.ended++;
        left--;
        if (grid_.one_by_one && left > 0) {
          begin(block, block.number + 1);
        }
      }
      idle = moved ? 0 : idle + 1;
      if (idle > 1000 + 100 * grid_.blocks) {
        wrong_ = "all threads wait" + where();
      }
    }
    running = outer;
    watched = {};
    return wrong_;
  }

  // Which warps wait for lanes, and how many threads for their block.
  std::string where() const {
    std::string text;
    for (const Block& block : blocks_) {
      text += "; block " + std::to_string(block.number) + ": " + std::to_string(block.at_barrier) +
              " at a barrier, " + std::to_string(block.ended) + " ended";
      for (const Warp& warp : block.warps) {
        if (warp.arrived != 0) {
          text += ", warp " + std::to_string(&warp - block.warps.data()) + " exchange " +
                  std::to_string(warp.kind) + " lanes " + std::to_string(warp.arrived);
        }
      }
    }
    return text;
  }

  // A block of the launch, none of whose threads has started.
  void begin(Block& block, uint32_t number) {
    block = {};
    block.number = number;
    block.shared.assign(grid_.shared_bytes + 16, 0xAB);
    block.warps.resize(grid_.warps);
    for (Warp& warp : block.warps) {
      warp.block = &block;
    }
    const size_t threads = size_t{grid_.warps} * kLanes;
    const size_t first = place(block) * threads;
    for (size_t thread = first; thread < first + threads; thread++) {
      make_context(contexts_[thread], stacks_->of(thread), kStackBytes, &enter);
    }
    std::fill_n(pairs_.begin() + first, threads, Pairs());
  }

  size_t place(const Block& block) const { return static_cast<size_t>(&block - blocks_.data()); }

  // Lets the lanes of a warp that may run do so, until all of them wait or have exchanged values for a while.
  bool run_some(Block& block) {
    Warp& warp = block.warps[random_() % block.warps.size()];
    if (warp.ready == 0) {
      return false;
    }
    exchanges_ = grid_.one_by_one ? kLongTurn : random_() % 4;
    warp_ = &warp;
    blockIdx.x = block.number;
    watched = {shared(), grid_.one_by_one ? 0 : grid_.shared_bytes};
    next_lane(random_() % kLanes);
    switch_context(scheduler_, contexts_[thread_]);
    return true;
  }

  // The first lane from one on that may run is the one that runs.
  void next_lane(uint32_t from) {
    const uint32_t ready = warp_->ready;
    const uint32_t lane = from % kLanes;
    const uint32_t above = ready & Warp::kAll32 << lane;
    lane_ = static_cast<uint32_t>(__builtin_ctz(above != 0 ? above : ready));
    const uint32_t own = static_cast<uint32_t>(warp_ - warp_->block->warps.data()) * kLanes + lane_;
    thread_ = place(*warp_->block) * grid_.warps * kLanes + own;
    threadIdx.x = own;
  }

  static void enter() {
    running->body_();
    Launch& launch = *running;
    Warp& warp = *launch.warp_;
    warp.ready &= ~(1u << launch.lane_);
    warp.block->ended++;
    launch.wait();
  }

  // Lets another lane of the warp run, or other warps if there is none.
  void wait() {
    if (warp_->ready == 0 || wrong_.empty() == false) {
      leave();
      return;
    }
    Context& own = contexts_[thread_];
    next_lane(lane_ + 1);
    switch_context(own, contexts_[thread_]);
  }

  // Lets other warps run.
  void leave() { switch_context(contexts_[thread_], scheduler_); }

  const uint64_t* exchange(Exchange kind, const uint64_t* own, uint32_t words) {
    Warp& warp = *warp_;
    const uint32_t turn = warp.turn;
    if (warp.arrived != 0 && warp.kind != kind) {
      wrong_ = "lanes of a warp wait for different things";
      leave();
    }
    warp.kind = kind;
    std::copy(own, own + words, warp.values[turn % 2] + lane_ * kLaneWords);
    warp.arrived |= 1u << lane_;
    warp.ready &= ~(1u << lane_);
    if (warp.arrived != Warp::kAll32) {
      wait();
      return warp.values[turn % 2];
    }
    warp.arrived = 0;
    warp.ready = Warp::kAll32;
    warp.turn++;
    warp.syncs += kind == kSync ? 1 : 0;
    if (exchanges_ == 0) {
      leave();
    } else {
      exchanges_--;
    }
    return warp.values[turn % 2];
  }

  uint32_t barrier(bool yes) {
    Warp& warp = *warp_;
    Block& block = *warp.block;
    uint32_t& counted = block.counted[block.barriers % 2];
    warp.ready &= ~(1u << lane_);
    counted += yes ? 1 : 0;
    block.at_barrier++;
    if (block.at_barrier == block.warps.size() * kLanes) {
      block.at_barrier = 0;
      block.barriers++;
      block.counted[block.barriers % 2] = 0;
      for (Warp& other : block.warps) {
        other.ready = Warp::kAll32;
      }
    }
    wait();
    return counted;
  }

  void trap() {
    wrong_ = "trapped";
    leave();
  }

  void pair_arrive() {
    warp_->block->pair_arrived++;
    pairs_[thread_].arrived++;
  }

  void pair_wait() {
    Block& block = *warp_->block;
    while (block.pair_arrived / kLanes <= block.pair_passed / kLanes) {
      leave();
    }
    block.pair_passed++;
    pairs_[thread_].waited++;
  }

  void accessed(size_t from, size_t bytes, Access how, const void* code) {
    Block& block = *warp_->block;
    if (block.races == nullptr) {
      block.races = std::make_unique<Races>(grid_.shared_bytes);
    }
    const Pairs& pairs = pairs_[thread_];
    const Moment moment = {threadIdx.x, block.barriers, warp_->syncs, pairs.arrived, pairs.waited};
    std::string race = block.races->access(from, bytes, how, moment, code);
    if (wrong_.empty()) {
      wrong_ = std::move(race);
    }
  }

  uint8_t* shared() {
    std::vector<uint8_t>& memory = warp_->block->shared;
    return memory.data() + (16 - reinterpret_cast<uintptr_t>(memory.data()) % 16) % 16;
  }

 private:
  // A thread's calls.
  struct Pairs {
    uint32_t arrived = 0;
    uint32_t waited = 0;
  };

  const std::function<void()>& body_;
  const Grid grid_;
  std::mt19937_64 random_;
  std::vector<Block> blocks_;
  std::vector<Context> contexts_;
  std::vector<Pairs> pairs_;
  Context scheduler_;
  std::unique_ptr<Stacks> stacks_;
  size_t thread_ = 0;
  Warp* warp_ = nullptr;
  uint32_t lane_ = 0;
  uint32_t exchanges_ = 0;  // after which other warps run
  std::string wrong_;
};

}  // namespace

const uint64_t* exchange(Exchange kind, const uint64_t* own, uint32_t words) {
  return running->exchange(kind, own, words);
}

uint64_t shuffle(uint64_t own, uint32_t lane) { return running->exchange(kValues, &own, 1)[lane * kLaneWords]; }

uint32_t ballot(bool yes) {
  const uint64_t own = yes ? 1 : 0;
  const uint64_t* all = running->exchange(kBallot, &own, 1);
  uint32_t bits = 0;
  for (uint32_t lane = 0; lane < kLanes; lane++) {
    bits |= static_cast<uint32_t>(all[lane * kLaneWords]) << lane;
  }
  return bits;
}

uint32_t barrier(bool yes) { return running->barrier(yes); }

void trap() { running->trap(); }

std::string launch(const std::function<void()>& body, const Grid& grid) {
  return Launch(body, grid).run();
}

uint8_t* shared_memory() { return running->shared(); }

void accessed_shared(size_t from, size_t bytes, Access how, const void* code) {
  running->accessed(from, bytes, how, code);
}

std::string Races::place(const void* code) {
  char text[32];
  std::snprintf(text, sizeof text, "+0x%zx", static_cast<size_t>(static_cast<const char*>(code) - &__ehdr_start));
  return text;
}

}  // namespace simt

void pair_arrive() { simt::running->pair_arrive(); }

void pair_wait() { simt::running->pair_wait(); }

uint8_t* block_memory() { return simt::shared_memory(); }

}  // namespace vamana
