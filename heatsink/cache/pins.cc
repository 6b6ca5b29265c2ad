// SPDX-License-Identifier: Apache-2.0
#include "heatsink/cache/pins.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <mutex>
#include <utility>
#include <vector>

namespace heatsink::cache {
namespace {

constexpr std::uint64_t kUnpinned = 0;

// Of one thread at a time; never freed, used again by a later thread.
struct alignas(64) Slot {
  std::atomic<std::uint64_t> pinned_since{kUnpinned};
  std::atomic<bool> is_taken{true};
  Slot* next = nullptr;
};

#if defined(__SANITIZE_THREAD__)
constexpr bool kMayUseMembarrier = false;  // which the thread sanitizer knows nothing of
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
constexpr bool kMayUseMembarrier = false;
#else
constexpr bool kMayUseMembarrier = true;
#endif
#else
constexpr bool kMayUseMembarrier = true;
#endif

int membarrier(int command) { return static_cast<int>(syscall(SYS_membarrier, command, 0, 0)); }

struct Retired {
  std::uint64_t epoch;
  std::function<void()> free;
};

class Domain {
 public:
  Domain()
      : has_membarrier_(kMayUseMembarrier &&
                        membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0) {}

  Slot* take_slot() {
    for (Slot* slot = slots_.load(); slot != nullptr; slot = slot->next) {
      bool is_taken = false;
      if (slot->is_taken.compare_exchange_strong(is_taken, true)) return slot;
    }
    auto* slot = new Slot;
    slot->next = slots_.load();
    while (!slots_.compare_exchange_weak(slot->next, slot)) {
    }
    return slot;
  }

  // "Pinned since n" must be seen by whoever unlinks something and then looks at the slots, or the
  // unlinking by whoever pins and then looks at the pointers.
  void pin(Slot& slot) const noexcept {
    const std::uint64_t epoch = epoch_.load(std::memory_order_acquire);
    if (has_membarrier_) [[likely]] {
      slot.pinned_since.store(epoch, std::memory_order_relaxed);
      std::atomic_signal_fence(std::memory_order_seq_cst);
    } else {
      slot.pinned_since.store(epoch, std::memory_order_seq_cst);
    }
  }

  void retire(std::function<void()> free) {
    const std::lock_guard lock(mutex_);
    retired_.push_back({epoch_.fetch_add(1), std::move(free)});
  }

  std::size_t collect() {
    const std::lock_guard one_at_a_time(collecting_);
    {
      const std::lock_guard lock(mutex_);
      if (retired_.empty()) return 0;
    }
    const std::uint64_t now = epoch_.load();
    if (has_membarrier_) membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
    std::uint64_t oldest = now;
    for (Slot* slot = slots_.load(); slot != nullptr; slot = slot->next) {
      const std::uint64_t since = slot->pinned_since.load();
      if (since != kUnpinned) oldest = std::min(oldest, since);
    }
    return free_before(oldest);
  }

 private:
  std::size_t free_before(std::uint64_t epoch) {
    std::vector<Retired> gone;
    std::size_t left = 0;
    {
      const std::lock_guard lock(mutex_);
      while (!retired_.empty() && retired_.front().epoch < epoch) {
        gone.push_back(std::move(retired_.front()));
        retired_.pop_front();
      }
      left = retired_.size();
    }
    for (const Retired& each : gone) each.free();
    return left;
  }

  const bool has_membarrier_;
  std::atomic<std::uint64_t> epoch_{kUnpinned + 1};
  std::atomic<Slot*> slots_{nullptr};
  std::mutex collecting_;
  std::mutex mutex_;
  std::deque<Retired> retired_;  // by rising epoch
};

// Never destroyed: threads may end after main() has.
Domain& domain() {
  static Domain& one = *new Domain;
  return one;
}

// What a thread has of the domain.
struct Membership {
  Slot* slot = nullptr;
  std::uint32_t pins = 0;

  ~Membership() {
    if (slot != nullptr) slot->is_taken.store(false);
  }
};

thread_local Membership membership;

}  // namespace

Pin::Pin() noexcept {
  Membership& self = membership;
  if (self.pins++ != 0) return;
  if (self.slot == nullptr) [[unlikely]]
    self.slot = domain().take_slot();
  domain().pin(*self.slot);
}

Pin::~Pin() {
  Membership& self = membership;
  if (--self.pins == 0) self.slot->pinned_since.store(kUnpinned, std::memory_order_release);
}

void retire(std::function<void()> free) { domain().retire(std::move(free)); }

std::size_t collect_retired() { return domain().collect(); }

}  // namespace heatsink::cache
