// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/load/pacer.h"

namespace heatsink::app {

TimePoint Pacer::due(std::uint64_t operation) const {
  const double seconds = static_cast<double>(operation) / per_second_;
  return start_ + std::chrono::duration_cast<Nanos>(std::chrono::duration<double>(seconds));
}

std::optional<TimePoint> Pacer::next(TimePoint now) {
  if (per_second_ == 0) return now;
  if (due(operation_) + kBacklogMax < now) {
    const double seconds = std::chrono::duration<double>(now - kBacklogMax - start_).count();
    const auto resumed = static_cast<std::uint64_t>(seconds * per_second_);
    given_up_ += resumed - operation_;
    operation_ = resumed;
  }
  const TimePoint at = due(operation_);
  if (at > now) return std::nullopt;
  ++operation_;
  return at;
}

}  // namespace heatsink::app
