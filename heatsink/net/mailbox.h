// SPDX-License-Identifier: Apache-2.0
// Passes work of other threads to an event loop: a locked vector, and a call that wakes the loop.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

namespace heatsink::net {

// Any thread may call post(), try_post() and counts(); the owner calls the rest. `wake` is called
// only while the owner sleeps, once per sleep. An owner without posted work takes no lock.
class Mailbox {
 public:
  // Work that may wait before try_post() refuses more.
  static constexpr std::size_t kWaitingMax = 16'384;

  // Any thread may call `wake`; with `wakes_always` it is also called while the owner is awake.
  explicit Mailbox(std::function<void()> wake, bool wakes_always = false)
      : wake_(std::move(wake)), wakes_always_(wakes_always) {}

  // Appends work, and wakes the owner if it sleeps and is not woken yet. For work whose senders
  // bound it: an answer to a request, or at most one piece per client or connection.
  void post(std::function<void()> work);
  // For work that its sender can do without. False: kWaitingMax pieces wait, and it is not
  // appended; threads that post at the same moment may go beyond that by one each.
  [[nodiscard]] bool try_post(std::function<void()> work);

  struct Counts {
    std::size_t waiting = 0;    // pieces of work, also those that run now
    std::uint64_t refused = 0;  // by try_post(), in total
  };
  Counts counts() const {
    return {waiting_.load(std::memory_order_relaxed), refused_.load(std::memory_order_relaxed)};
  }
  bool is_full() const { return waiting_.load(std::memory_order_relaxed) >= kWaitingMax; }

  // False: work is waiting, do not sleep. True: the next post() wakes, until run_posted().
  bool may_sleep();

  // Runs what was posted before this call, in order. Work posted by work runs in the next call.
  void run_posted();

 private:
  // may_sleep() changes kAwake to kAsleep, run_posted() changes it back. post() sets kPosted after
  // its push, so that a thread that sees kPosted finds the work.
  enum class State { kAwake, kAsleep, kPosted };

  const std::function<void()> wake_;
  const bool wakes_always_;
  std::atomic<State> state_{State::kAwake};
  std::atomic<std::size_t> waiting_{0};
  std::atomic<std::uint64_t> refused_{0};
  // the owner's; swapped with posted_, so that both keep their memory
  std::vector<std::function<void()>> running_;
  std::mutex mutex_;
  std::vector<std::function<void()>> posted_;  // guarded by mutex_
};

}  // namespace heatsink::net
