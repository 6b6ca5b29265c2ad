// SPDX-License-Identifier: Apache-2.0
// What the tracker tells all readers: which generation of copies is valid, and until when.
#pragma once

#include <atomic>
#include <cstdint>

#include "heatsink/cache/copy.h"

namespace heatsink::cache {

// Written by the tracker's thread alone, read by any thread. All operations are lock-free. A line
// of its own: every hit reads it.
class alignas(64) ProofState {
 public:
  Generation generation() const noexcept { return {generation_.load(std::memory_order_acquire)}; }

  // The send time of the last heartbeat whose reply has been processed.
  TimePoint proven_at() const noexcept {
    return TimePoint(Nanos(proven_at_.load(std::memory_order_acquire)));
  }

  // True while the tracker is connected and proven: fills make sense.
  bool up() const noexcept { return up_.load(std::memory_order_acquire); }

  // Tracker's thread: every copy made so far is dead from now on. Before the next prove(): a proof
  // speaks for the generation that lives when it is given, and for the invalidations applied by
  // then.
  Generation begin_generation() noexcept {
    return {generation_.fetch_add(1, std::memory_order_acq_rel) + 1};
  }
  void prove(TimePoint heartbeat_sent_at) noexcept {
    proven_at_.store(heartbeat_sent_at.time_since_epoch().count(), std::memory_order_release);
  }
  void set_up(bool up) noexcept { up_.store(up, std::memory_order_release); }

 private:
  std::atomic<std::uint64_t> generation_{0};
  std::atomic<std::int64_t> proven_at_{0};
  std::atomic<bool> up_{false};
};

}  // namespace heatsink::cache
