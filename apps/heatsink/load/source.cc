// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/load/source.h"

namespace heatsink::app {

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
