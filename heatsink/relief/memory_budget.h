// SPDX-License-Identifier: Apache-2.0
// Counts the memory of all clients' requests and replies, and reports when it runs short.
#pragma once

#include <atomic>
#include <cstdint>

#include "heatsink/base/units.h"

namespace heatsink::proxy {

// proxy.maximum-memory. Thread-safe without a lock. Each client reports changes in steps of
// kStepBytes, so a small client costs nothing. While the budget is tight (over half), clients are
// held back; when it is exhausted, the proxy closes the largest clients.
class MemoryBudget {
 public:
  static constexpr std::uint64_t kStepBytes = 64 * 1024;
  // A client that is held back may have this many bytes waiting. Its buffer takes up to twice that,
  // and what came before the budget was tight stays: so the second half of a budget of 32 MiB is
  // enough for 64 such clients.
  static constexpr std::uint64_t kFairBytes = 128 * 1024;

  explicit MemoryBudget(Bytes max) : max_(static_cast<std::int64_t>(max.count)) {}

  void set_max(Bytes max) {
    max_.store(static_cast<std::int64_t>(max.count), std::memory_order_relaxed);
  }
  void change(std::int64_t bytes) { used_.fetch_add(bytes, std::memory_order_relaxed); }
  std::uint64_t used_bytes() const {
    const std::int64_t used = used_.load(std::memory_order_relaxed);
    return used > 0 ? static_cast<std::uint64_t>(used) : 0;
  }
  std::uint64_t max_bytes() const { return static_cast<std::uint64_t>(max()); }
  bool is_tight() const { return used_.load(std::memory_order_relaxed) > max() / 2; }
  bool is_exhausted() const { return used_.load(std::memory_order_relaxed) > max(); }

 private:
  std::int64_t max() const { return max_.load(std::memory_order_relaxed); }

  std::atomic<std::int64_t> max_;
  std::atomic<std::int64_t> used_{0};
};

// The memory of one client, as last reported. Not thread-safe; the budget outlives it.
class MemoryShare {
 public:
  explicit MemoryShare(MemoryBudget& budget) : budget_(budget) {}
  ~MemoryShare() { set(0); }
  MemoryShare(const MemoryShare&) = delete;

  // True if the client now holds more than it last reported.
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
