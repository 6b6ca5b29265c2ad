// SPDX-License-Identifier: Apache-2.0
// Slows the keeper's timers down while there is nothing to do, and returns memory to the system.
#pragma once

#include <atomic>
#include <functional>

#include "heatsink/copies/node_state.h"
#include "heatsink/copies/paced_timers.h"
#include "heatsink/copies/trim_policy.h"
#include "heatsink/net/net.h"

namespace heatsink::copies {

// Without clients and copies there is nothing to keep consistent: the keeper then only checks
// whether the server is there.
//
// The keeper's thread, except rests(). No clock.
class KeeperRest {
 public:
  static constexpr Nanos kPeriod = std::chrono::seconds(1);    // of the timers at rest
  static constexpr Nanos kAwakeFor = std::chrono::seconds(3);  // after the last work

  // Both outlive it.
  KeeperRest(const NodeState& shared, net::EventLoop& loop, TimePoint now)
      : shared_(shared), timers_(loop, kPeriod), woken_at_(now) {}

  PacedTimers& timers() { return timers_; }
  // Every kPeriod. A worker that wakes up meanwhile is either seen by the second call of
  // `has_work`, or it sees rests() and wakes the keeper.
  void look(const std::function<bool()>& has_work, TimePoint now);
  void wake(TimePoint now);
  bool rests() const { return rests_.load(); }  // any thread

  // Every kPeriod. The memory of a burst goes back although other clients go on.
  void trim_after_burst(TimePoint now);

 private:
  std::uint64_t unused_memory() const;

  const NodeState& shared_;
  PacedTimers timers_;
  TrimPolicy trim_;
  TimePoint woken_at_;
  std::atomic<bool> rests_{false};
};

}  // namespace heatsink::copies
