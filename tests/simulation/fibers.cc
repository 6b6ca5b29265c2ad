// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/fibers.h"

#include <cxxabi.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>
#include <utility>

#include "heatsink/base/sanitizers.h"

#if HEATSINK_ADDRESS_SANITIZER
#include <sanitizer/common_interface_defs.h>
#endif
#if HEATSINK_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif

namespace heatsink::simulation {
namespace {

constexpr std::size_t kStackBytes = 512 * 1024;  // a link reads into 64 KiB of it

// Stacks are used again: making one costs more than a fiber's whole life.
class Stacks {
 public:
  char* take() {
    if (!free_.empty()) {
      char* const stack = free_.back();
      free_.pop_back();
      return stack;
    }
    void* const all = mmap(nullptr, kStackBytes + guard(), PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (all == MAP_FAILED) std::abort();
    if (mprotect(all, guard(), PROT_NONE) != 0) std::abort();
    return static_cast<char*>(all) + guard();
  }
  void give_back(char* stack) { free_.push_back(stack); }

 private:
  static std::size_t guard() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }
  std::vector<char*> free_;
};

Stacks& stacks() {
  static Stacks& one = *new Stacks;
  return one;
}

// Of the Itanium C++ ABI: the exceptions that a thread is handling. Each fiber has its own.
using Handling = std::array<char, sizeof(void*) + sizeof(unsigned int)>;

}  // namespace

// A stack and where on it to go on.
struct FiberPlace {
  ucontext_t registers{};
  Handling handling{};
  char* stack = nullptr;  // null: the thread's own
  void* fake_stack = nullptr;
  const void* bottom = nullptr;  // as the address sanitizer knows it
  std::size_t bytes = 0;
  void* tsan = nullptr;
};

namespace {

void arrived([[maybe_unused]] FiberPlace& at, [[maybe_unused]] FiberPlace& from) {
#if HEATSINK_ADDRESS_SANITIZER
  __sanitizer_finish_switch_fiber(at.fake_stack, &from.bottom, &from.bytes);
#endif
}

void go(FiberPlace& from, FiberPlace& to, [[maybe_unused]] bool for_ever = false) {
  auto* const handling = reinterpret_cast<char*>(abi::__cxa_get_globals());
  std::memcpy(from.handling.data(), handling, from.handling.size());
  std::memcpy(handling, to.handling.data(), to.handling.size());
#if HEATSINK_ADDRESS_SANITIZER
  __sanitizer_start_switch_fiber(for_ever ? nullptr : &from.fake_stack, to.bottom, to.bytes);
#endif
#if HEATSINK_THREAD_SANITIZER
  __tsan_switch_to_fiber(to.tsan, 0);
#endif
  swapcontext(&from.registers, &to.registers);
  arrived(from, to);
}

}  // namespace

struct Fiber::Context {
  FiberPlace place;
};

struct Fibers::Main {
  FiberPlace place;
};

// ---- one fiber

Fiber::Fiber(Fibers& fibers, std::function<void()> body)
    : fibers_(fibers), body_(std::move(body)), context_(std::make_unique<Context>()) {
  FiberPlace& place = context_->place;
  place.stack = stacks().take();
  place.bottom = place.stack;
  place.bytes = kStackBytes;
#if HEATSINK_THREAD_SANITIZER
  place.tsan = __tsan_create_fiber(0);
#endif
  getcontext(&place.registers);
  place.registers.uc_stack.ss_sp = place.stack;
  place.registers.uc_stack.ss_size = kStackBytes;
  place.registers.uc_link = nullptr;
  // makecontext() passes ints: a pointer goes in two halves.
  const auto self = reinterpret_cast<std::uintptr_t>(this);
  void (*const enter)(unsigned, unsigned) = [](unsigned high, unsigned low) {
    const std::uintptr_t whole = (std::uintptr_t{high} << 32) | low;
    reinterpret_cast<Fiber*>(whole)->run();  // NOLINT(performance-no-int-to-ptr): see above
  };
  makecontext(&place.registers, reinterpret_cast<void (*)()>(enter), 2,
              static_cast<unsigned>(self >> 32), static_cast<unsigned>(self));
}

Fiber::~Fiber() {
  assert(is_over_);
  *lives_ = false;
  stacks().give_back(context_->place.stack);
#if HEATSINK_THREAD_SANITIZER
  __tsan_destroy_fiber(context_->place.tsan);
#endif
}

void Fiber::run() {
  arrived(context_->place, fibers_.main_->place);
  body_();
  body_ = nullptr;
  is_over_ = true;
  go(context_->place, fibers_.main_->place, true);
}

void Fiber::wake_soon() {
  wake_at(fibers_.scheduler_.now() +
          fibers_.scheduler_.between(fibers_.wake_min_, fibers_.wake_max_));
}

void Fiber::wake_at(TimePoint due) {
  if (is_over_) return;
  due = std::max(due, stopped_until_);
  if (due >= next_turn_) return;
  next_turn_ = due;
  fibers_.scheduler_.call_at(due, [this, due, lives = lives_] {
    if (!*lives || is_over_ || next_turn_ != due) return;
    next_turn_ = TimePoint::max();
    if (fibers_.scheduler_.now() < stopped_until_) return wake_at(stopped_until_);
    fibers_.resume(*this);
  });
}

void Fiber::stop_for(Nanos time) {
  stopped_until_ = std::max(stopped_until_, fibers_.scheduler_.now() + time);
}

// ---- all of them

Fibers::Fibers(Scheduler& scheduler, Nanos wake_min, Nanos wake_max)
    : scheduler_(scheduler),
      wake_min_(wake_min),
      wake_max_(wake_max),
      main_(std::make_unique<Main>()) {
#if HEATSINK_THREAD_SANITIZER
  main_->place.tsan = __tsan_get_current_fiber();
#endif
}

Fibers::~Fibers() { assert(alive_.empty()); }

std::shared_ptr<Fiber> Fibers::spawn(std::function<void()> body) {
  std::shared_ptr<Fiber> fiber(new Fiber(*this, std::move(body)));
  alive_.push_back(fiber);
  fiber->wake_soon();
  return fiber;
}

Fiber& Fibers::current() const {
  assert(current_ != nullptr);
  return *current_;
}

void Fibers::resume(Fiber& fiber) {
  assert(current_ == nullptr);
  current_ = &fiber;
  go(main_->place, fiber.context_->place);
  current_ = nullptr;
  if (!fiber.is_over_) return;
  std::erase_if(alive_, [&](const auto& each) { return each.get() == &fiber; });
}

void Fibers::park() {
  Fiber& fiber = current();
  go(fiber.context_->place, main_->place);
}

void Fibers::pause_until(TimePoint due) {
  while (scheduler_.now() < due) {
    current().wake_at(due);
    park();
  }
}

}  // namespace heatsink::simulation
