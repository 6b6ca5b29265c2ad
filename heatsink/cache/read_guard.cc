// SPDX-License-Identifier: Apache-2.0
#include "heatsink/cache/read_guard.h"

#include <linux/membarrier.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <mutex>
#include <utility>
#include <vector>

#include "heatsink/base/sanitizers.h"
#include "heatsink/cache/read_guard_inline.h"

namespace heatsink::cache {

thread_local constinit ThreadReads this_threads_reads;
constinit ReadEpoch read_epoch;

namespace {

// The thread sanitizer does not model it.
constexpr bool kMayUseMembarrier = HEATSINK_THREAD_SANITIZER == 0;

int membarrier(int command) { return static_cast<int>(syscall(SYS_membarrier, command, 0, 0)); }

struct Retired {
  std::uint64_t epoch;
  std::function<void()> free;
};

class Domain {
 public:
  Domain()
      : has_membarrier_(kMayUseMembarrier &&
                        membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0) {
    read_epoch.is_fenced_by_others.store(has_membarrier_);
  }

  ReaderSlot* take_slot() {
    for (ReaderSlot* slot = slots_.load(); slot != nullptr; slot = slot->next) {
      bool is_taken = false;
      if (slot->is_taken.compare_exchange_strong(is_taken, true)) return slot;
    }
    auto* slot = new ReaderSlot;
    slot->next = slots_.load();
    while (!slots_.compare_exchange_weak(slot->next, slot)) {
    }
    return slot;
  }

  void retire(std::function<void()> free) {
    const std::lock_guard lock(mutex_);
    // A read that begins after this increment has a higher number, and cannot find the object.
    retired_.push_back({read_epoch.now.fetch_add(1), std::move(free)});
  }

  // Held around fork(), so that the child gets a consistent state.
  void hold() {
    collecting_.lock();
    mutex_.lock();
  }
  void release() {
    mutex_.unlock();
    collecting_.unlock();
  }
  // In a fork()ed child only the thread that owns `own` exists. The reads of the others would never
  // end.
  void forget_threads_but(const ReaderSlot* own) {
    for (ReaderSlot* slot = slots_.load(); slot != nullptr; slot = slot->next) {
      if (slot == own) continue;
      slot->reading_since.store(0);
      slot->is_taken.store(false);
    }
  }

  std::size_t collect() {
    const std::lock_guard one_at_a_time(collecting_);
    {
      const std::lock_guard lock(mutex_);
      if (retired_.empty()) return 0;
    }
    const std::uint64_t now = read_epoch.now.load();
    // Makes each read that may use a retired object visible to the loop below (see begin_read()).
    if (has_membarrier_) membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
    std::uint64_t oldest = now;
    for (ReaderSlot* slot = slots_.load(); slot != nullptr; slot = slot->next) {
      const std::uint64_t since = slot->reading_since.load();
      if (since != 0) oldest = std::min(oldest, since);
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
    // Without the lock, because a `free` may retire more objects.
    for (const Retired& each : gone) each.free();
    return left;
  }

  const bool has_membarrier_;
  std::atomic<ReaderSlot*> slots_{nullptr};
  std::mutex collecting_;
  std::mutex mutex_;
  std::deque<Retired> retired_;  // by rising epoch
};

Domain& domain();

Domain* make_domain() {
  // Fails only without memory, and only a child process would notice.
  static_cast<void>(pthread_atfork([] { domain().hold(); }, [] { domain().release(); },
                                   [] {
                                     domain().forget_threads_but(this_threads_reads.slot);
                                     domain().release();
                                   }));
  return new Domain;
}

// Never destroyed: threads may outlive main().
Domain& domain() {
  static Domain& one = *make_domain();
  return one;
}

// Returns the thread's slot when the thread ends.
struct Membership {
  ~Membership() {
    if (this_threads_reads.slot != nullptr) this_threads_reads.slot->is_taken.store(false);
    this_threads_reads.slot = nullptr;
  }
};

}  // namespace

void take_reader_slot() noexcept {
  static thread_local const Membership membership;
  this_threads_reads.slot = domain().take_slot();
}

ReadGuard::ReadGuard() noexcept { begin_read(); }
ReadGuard::~ReadGuard() { end_read(); }

void retire(std::function<void()> free) { domain().retire(std::move(free)); }

std::size_t collect_retired() { return domain().collect(); }

}  // namespace heatsink::cache
