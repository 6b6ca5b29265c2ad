// SPDX-License-Identifier: Apache-2.0
// Publishes to all readers which generation of copies is valid, and when the server last proved it.
#pragma once

#include <atomic>
#include <cstdint>

#include "heatsink/cache/copy.h"

namespace heatsink::cache {

// The tracker's thread writes it; any thread reads it. All operations are lock-free. It has a cache
// line of its own because every hit reads it.
class alignas(64) ProofState {
 public:
  Generation generation() const noexcept { return {generation_.load(std::memory_order_acquire)}; }

  // The send time of the last heartbeat whose reply the tracker has processed.
  TimePoint proven_at() const noexcept {
    return TimePoint(Nanos(proven_at_.load(std::memory_order_acquire)));
  }

  // Others have confirmed that the server is the master: a majority of them was asked then or
  // later. max(): in this topology nobody is asked.
  TimePoint confirmed_at() const noexcept {
    return TimePoint(Nanos(confirmed_at_.load(std::memory_order_acquire)));
  }

  // True while the tracker is connected and proven, so that a fill makes sense.
  bool up() const noexcept { return up_.load(std::memory_order_acquire); }

  // Tracker's thread. No existing copy may be served from now on. Call it before the next prove():
  // a proof covers the generation that is current when it is given, and all invalidations applied
  // by then.
  Generation begin_generation() noexcept {
    return {generation_.fetch_add(1, std::memory_order_acq_rel) + 1};
  }
  void prove(TimePoint heartbeat_sent_at) noexcept {
    proven_at_.store(heartbeat_sent_at.time_since_epoch().count(), std::memory_order_release);
  }
  // Call it after the begin_generation() that another master needs.
  void confirm(TimePoint asked_at) noexcept {
    confirmed_at_.store(asked_at.time_since_epoch().count(), std::memory_order_release);
  }
  void set_up(bool up) noexcept { up_.store(up, std::memory_order_release); }

 private:
  std::atomic<std::uint64_t> generation_{0};
  std::atomic<std::int64_t> proven_at_{0};
  std::atomic<std::int64_t> confirmed_at_{TimePoint::max().time_since_epoch().count()};
  std::atomic<bool> up_{false};
};

}  // namespace heatsink::cache
