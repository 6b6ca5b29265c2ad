// SPDX-License-Identifier: Apache-2.0
// Counts what all clients' requests and replies take together, and says when that is too much.
#pragma once

#include <atomic>
#include <cstdint>

#include "heatsink/base/units.h"

namespace heatsink::proxy {

// proxy.maximum-memory. Thread-safe, without a lock. Each client reports how much more or less it
// holds, in steps of kStepBytes, so that a small client costs nothing; a tight budget holds clients
// back before an exhausted one closes the largest.
class MemoryBudget {
 public:
  static constexpr std::uint64_t kStepBytes = 64 * 1024;
  // Held back, a client may have so many bytes waiting; and who has no more is never closed.
  static constexpr std::uint64_t kFairBytes = 256 * 1024;

  explicit MemoryBudget(Bytes max) : max_(static_cast<std::int64_t>(max.count)) {}

  void change(std::int64_t bytes) { used_.fetch_add(bytes, std::memory_order_relaxed); }
  std::uint64_t used_bytes() const {
    const std::int64_t used = used_.load(std::memory_order_relaxed);
    return used > 0 ? static_cast<std::uint64_t>(used) : 0;
  }
  std::uint64_t max_bytes() const { return static_cast<std::uint64_t>(max_); }
  bool is_tight() const { return used_.load(std::memory_order_relaxed) > max_ / 2; }
  bool is_exhausted() const { return used_.load(std::memory_order_relaxed) > max_; }

 private:
  const std::int64_t max_;
  std::atomic<std::int64_t> used_{0};
};

// What one client holds, as last reported. Not thread-safe; the budget outlives it.
class MemoryShare {
 public:
  explicit MemoryShare(MemoryBudget& budget) : budget_(budget) {}
  ~MemoryShare() { set(0); }
  MemoryShare(const MemoryShare&) = delete;

  // True if there is now more of it than was reported before.
  bool note(std::uint64_t bytes) {
    const std::uint64_t steps = bytes / MemoryBudget::kStepBytes * MemoryBudget::kStepBytes;
    if (steps == reported_) return false;
    const bool grew = steps > reported_;
    set(steps);
    return grew;
  }
  std::uint64_t reported_bytes() const { return reported_; }

 private:
  void set(std::uint64_t bytes) {
    budget_.change(static_cast<std::int64_t>(bytes) - static_cast<std::int64_t>(reported_));
    reported_ = bytes;
  }

  MemoryBudget& budget_;
  std::uint64_t reported_ = 0;
};

}  // namespace heatsink::proxy
