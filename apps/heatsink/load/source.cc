// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/load/source.h"

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

PreloadSource::PreloadSource(std::uint64_t first, std::uint64_t step, std::uint64_t keys)
    : next_(first),
      step_(step),
      keys_(keys),
      total_(first < keys ? (keys - first - 1) / step + 1 : 0) {}

std::optional<Operation> PreloadSource::next(TimePoint now) {
  if (!again_.empty()) {
    const std::uint64_t rank = again_.back();
    again_.pop_back();
    return Operation{rank, true, now};
  }
  if (next_ >= keys_) return std::nullopt;
  const std::uint64_t rank = next_;
  next_ += step_;
  return Operation{rank, true, now};
}

std::optional<Operation> MixedSource::next(TimePoint now) {
  const std::optional<TimePoint> due = pacer_.next(now);
  if (!due) return std::nullopt;
  const Zipf* law = std::get_if<Zipf>(&keys_);
  const std::uint64_t rank = law ? law->rank(random_) : std::get<ListOrder>(keys_).rank();
  return Operation{rank, random_.unit() < write_ratio_, *due};
}

}  // namespace heatsink::app
