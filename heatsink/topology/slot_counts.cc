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

std::pair<const SlotCounts::Snapshot*, double> SlotCounts::window_at(TimePoint now) const {
  const bool has_before = before_ != nullptr && before_at_ != TimePoint{};
  const Snapshot* const from = has_before ? before_.get() : latest_.get();
  const double seconds =
      std::chrono::duration<double>(now - (has_before ? before_at_ : latest_at_)).count();
  if (from == nullptr || seconds <= 0) return {nullptr, 0};
  return {from, seconds};
}

std::vector<float> SlotCounts::rates(TimePoint now) const {
  std::vector<float> out(resp::kSlots);
  const bool is_known = for_each_busy(
      now, [&out](std::uint16_t slot, double rate) { out[slot] = static_cast<float>(rate); });
  if (!is_known) out.clear();
  return out;
}

}  // namespace heatsink::topology
