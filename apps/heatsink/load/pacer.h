// SPDX-License-Identifier: Apache-2.0
// Says when the next operation is due, for a load of a fixed rate.
#pragma once

#include <cstdint>
#include <optional>

#include "heatsink/base/clock.h"

namespace heatsink::app {

// Operation n is due at start + n / rate. Latency counts from when an operation was due, not from
// when it could be sent: otherwise a server that stalls is asked less and looks fast ("coordinated
// omission", Gil Tene). Time is an argument; not thread-safe.
class Pacer {
 public:
  // Operations that could not be sent for this long are dropped and counted, so that no flood
  // follows an outage.
  static constexpr Nanos kBacklogMax = std::chrono::seconds(1);

  // `per_second` 0: as fast as possible, every operation is due now. REQUIRES: per_second >= 0.
  Pacer(double per_second, TimePoint start) : per_second_(per_second), start_(start) {}

  // The time at which the next operation was due; nothing if it is after `now`.
  std::optional<TimePoint> next(TimePoint now);

  std::uint64_t given_up() const { return given_up_; }

 private:
  TimePoint due(std::uint64_t operation) const;

  double per_second_;
  TimePoint start_;
  std::uint64_t operation_ = 0;
  std::uint64_t given_up_ = 0;
};

}  // namespace heatsink::app
