// SPDX-License-Identifier: Apache-2.0
// Until when the copies of each server may be served, as the servers' proofs say.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "heatsink/base/clock.h"
#include "heatsink/topology/key_servers.h"

namespace heatsink::client {

// One writer; any thread reads. A thread that sees a time also sees what the writer did before. 8
// KiB.
class ServedUntil {
 public:
  static constexpr std::size_t kMax = 1025;  // one server, and the nodes of a cluster

  explicit ServedUntil(TimePoint first) {
    end_all();
    set(0, first);
  }
  ServedUntil(const ServedUntil&) = delete;

  TimePoint of(topology::ServerIndex server) const noexcept {
    return TimePoint(Nanos(until_[server].load(std::memory_order_acquire)));
  }
  // The latest time that any server has given.
  TimePoint latest() const noexcept {
    return TimePoint(Nanos(latest_.load(std::memory_order_relaxed)));
  }

  void set(topology::ServerIndex server, TimePoint until) noexcept {
    const std::int64_t at = until.time_since_epoch().count();
    until_[server].store(at, std::memory_order_release);
    latest_.store(std::max(latest_.load(std::memory_order_relaxed), at), std::memory_order_relaxed);
  }
  void end_all() noexcept {
    for (std::atomic<std::int64_t>& each : until_) each.store(kNever, std::memory_order_release);
    latest_.store(kNever, std::memory_order_relaxed);
  }

 private:
  static constexpr std::int64_t kNever = TimePoint::min().time_since_epoch().count();
  std::array<std::atomic<std::int64_t>, kMax> until_{};
  std::atomic<std::int64_t> latest_{kNever};
};

}  // namespace heatsink::client
