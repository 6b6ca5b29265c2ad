// SPDX-License-Identifier: Apache-2.0
// Passes work of other threads to an event loop: a locked vector, and a call that wakes the loop.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

namespace heatsink::net {

// post() is for any thread; all else for the owner's. `wake` is called only when the owner sleeps,
// once per sleep; an owner that finds nothing posted takes no lock.
class Mailbox {
 public:
  // `wake` is called from any thread; if `wakes_always`, also while the owner is awake.
  explicit Mailbox(std::function<void()> wake, bool wakes_always = false)
      : wake_(std::move(wake)), wakes_always_(wakes_always) {}

  // Appends; wakes the owner if it sleeps and nobody has yet.
  void post(std::function<void()> work);

  // False when work is waiting: do not sleep. True: the next post wakes, until run_posted().
  bool may_sleep();

  // Runs what was posted before this call, in order. Work posted by work runs in the next call.
  void run_posted();

 private:
  // kAwake -> kAsleep by may_sleep(), back by run_posted(); anything -> kPosted by post(), after
  // its push, so that who sees kPosted finds the work.
  enum class State { kAwake, kAsleep, kPosted };

  const std::function<void()> wake_;
  const bool wakes_always_;
  std::atomic<State> state_{State::kAwake};
  std::vector<std::function<void()>> running_;  // owner's; swapped, so that both keep their memory
  std::mutex mutex_;
  std::vector<std::function<void()>> posted_;  // guarded by mutex_
};

}  // namespace heatsink::net
