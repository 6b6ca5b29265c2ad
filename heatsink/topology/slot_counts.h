// SPDX-License-Identifier: Apache-2.0
// Counts the commands that the proxy sends for each slot of a cluster.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/resp/resp.h"

namespace heatsink::topology {

// A random part of the commands is counted, and stands for all. Memory: 192 KiB, once there is a
// cluster.
class SlotCounts {
 public:
  // One in so many commands is counted: a count of n has a standard error of about
  // sqrt(n * kSampled).
  static constexpr std::uint32_t kSampled = 8;
  // Rates are over the last one to two of these.
  static constexpr Nanos kWindow = std::chrono::seconds(10);

  // Decides which commands are counted. One per thread. Not every eighth: a client that repeats
  // eight commands would be counted wrong.
  class Sampler {
   public:
    explicit Sampler(std::uint64_t seed) : state_(seed | 1) {}
    bool counts_next() {
      if (--left_ > 0) return false;
      state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;  // Knuth's MMIX
      left_ = 1 + static_cast<std::uint32_t>((state_ >> 33) % (2 * kSampled - 1));
      return true;
    }

   private:
    std::uint64_t state_;
    std::uint32_t left_ = 1;
  };

  // Any thread; only for commands that a Sampler has chosen. One atomic addition.
  void add(std::uint16_t slot) { now_[slot].fetch_add(1, std::memory_order_relaxed); }
  // Any thread, about once a second. Begins a new window when it is time.
  void tick(TimePoint now);
  // Commands per second for each slot; empty before there is a window. Any thread; 16384 steps.
  std::vector<float> rates(TimePoint now) const;
  // Calls each(slot, commands per second) for the slots that have any, by slot; false before there
  // is a window. Any thread; 16384 steps. Workers may wait for it, so `each` must be short.
  template <class Each>
  bool for_each_busy(TimePoint now, Each each) const;

 private:
  using Snapshot = std::array<std::uint32_t, resp::kSlots>;
  void take(Snapshot& into) const;
  // The one that rates are since, and how long that is; null: there is none.
  std::pair<const Snapshot*, double> window_at(TimePoint now) const;

  std::array<std::atomic<std::uint32_t>, resp::kSlots> now_{};
  mutable std::mutex mutex_;  // guards what follows
  std::unique_ptr<Snapshot> before_, latest_;
  TimePoint before_at_{}, latest_at_{};
};

template <class Each>
bool SlotCounts::for_each_busy(TimePoint now, Each each) const {
  const std::lock_guard lock(mutex_);
  const auto [from, seconds] = window_at(now);
  if (from == nullptr) return false;
  for (std::size_t slot = 0; slot < from->size(); ++slot) {
    // Modulo 2^32, so the counters may overflow.
    const std::uint32_t counted = now_[slot].load(std::memory_order_relaxed) - (*from)[slot];
    if (counted > 0) each(static_cast<std::uint16_t>(slot), counted * double{kSampled} / seconds);
  }
  return true;
}

}  // namespace heatsink::topology
