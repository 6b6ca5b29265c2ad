// SPDX-License-Identifier: Apache-2.0
// The time at which a thread last came round its loop: another thread can tell that it is stuck.
#pragma once

#include <atomic>

#include "heatsink/base/clock.h"

namespace heatsink {

// Thread-safe. Costs its thread one plain store.
class SignOfLife {
 public:
  explicit SignOfLife(TimePoint now) { give(now); }

  void give(TimePoint now) { at_.store(now.time_since_epoch().count(), std::memory_order_relaxed); }
  Nanos silence(TimePoint now) const {
    return now.time_since_epoch() - Nanos(at_.load(std::memory_order_relaxed));
  }

 private:
  std::atomic<Nanos::rep> at_;
};

}  // namespace heatsink
