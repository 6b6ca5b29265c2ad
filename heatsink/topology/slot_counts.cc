// SPDX-License-Identifier: Apache-2.0
#include "heatsink/topology/slot_counts.h"

#include <utility>

namespace heatsink::topology {

void SlotCounts::take(Snapshot& into) const {
  for (std::size_t slot = 0; slot < into.size(); ++slot)
    into[slot] = now_[slot].load(std::memory_order_relaxed);
}

void SlotCounts::tick(TimePoint now) {
  const std::lock_guard lock(mutex_);
  if (latest_ != nullptr && now - latest_at_ < kWindow) return;
  std::swap(before_, latest_);
  before_at_ = latest_at_;
  if (latest_ == nullptr) latest_ = std::make_unique<Snapshot>();
  take(*latest_);
  latest_at_ = now;
}

// Differences modulo 2^32, so the counters may overflow.
std::vector<float> SlotCounts::rates(TimePoint now) const {
  const std::lock_guard lock(mutex_);
  const bool has_before = before_ != nullptr && before_at_ != TimePoint{};
  if (latest_ == nullptr) return {};
  const Snapshot& from = has_before ? *before_ : *latest_;
  const double seconds =
      std::chrono::duration<double>(now - (has_before ? before_at_ : latest_at_)).count();
  if (seconds <= 0) return {};
  std::vector<float> out(resp::kSlots);
  for (std::size_t slot = 0; slot < out.size(); ++slot) {
    const std::uint32_t counted = now_[slot].load(std::memory_order_relaxed) - from[slot];
    out[slot] = static_cast<float>(counted * static_cast<double>(kSampled) / seconds);
  }
  return out;
}

}  // namespace heatsink::topology
