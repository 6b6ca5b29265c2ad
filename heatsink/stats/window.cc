// SPDX-License-Identifier: Apache-2.0
#include "heatsink/stats/window.h"

#include <algorithm>
#include <cassert>

namespace heatsink::stats {

Window::Window(const WindowOptions& options)
    : slot_(std::max(options.length / std::clamp<std::uint32_t>(options.slots, 1, kSlotsMax),
                     Nanos(1))),
      slots_(std::clamp<std::uint32_t>(options.slots, 1, kSlotsMax)),
      current_(slots_.data()) {
  assert(options.length > Nanos(0));
}

std::int64_t Window::number_at(TimePoint now) const {
  return std::max(now.time_since_epoch(), Nanos(0)) / slot_;
}

// Clears the slots between: they had no numbers. After a full turn these are all slots.
void Window::advance(TimePoint now) {
  const auto turn = static_cast<std::int64_t>(slots_.size());
  const std::int64_t to = number_at(now);
  if (next_ == TimePoint::min()) number_ = to;
  for (std::int64_t n = std::max(number_ + 1, to - turn + 1); n <= to; ++n)
    slots_[static_cast<std::size_t>(n % turn)].clear();
  number_ = to;
  current_ = &slots_[static_cast<std::size_t>(to % turn)];
  next_ = TimePoint(slot_ * (to + 1));
}

Summary Window::summary(TimePoint now) {
  if (now >= next_) advance(now);
  Summary sum;
  for (const Summary& slot : slots_) sum.merge(slot);
  return sum;
}

TimePoint Window::covered_from(TimePoint now) const {
  const std::int64_t newest = std::max(number_at(now), number_);
  return TimePoint(
      slot_ * std::max<std::int64_t>(newest - static_cast<std::int64_t>(slots_.size()) + 1, 0));
}

std::size_t Window::memory_bytes() const {
  std::size_t sum = sizeof(*this) + slots_.capacity() * sizeof(Summary);
  for (const Summary& slot : slots_) sum += slot.histogram.memory_bytes() - sizeof(slot.histogram);
  return sum;
}

}  // namespace heatsink::stats
