// SPDX-License-Identifier: Apache-2.0
#include "heatsink/client/name_fences.h"

#include <cassert>

namespace heatsink::client {

NameFences::NameFences() : stripes_(new Stripe[kStripes]) {}

void NameFences::write_begins(NameHash name) noexcept {
  stripe(name).writes_in_flight.fetch_add(1, std::memory_order_acq_rel);
}

void NameFences::write_ends(NameHash name, TimePoint now) noexcept {
  raise(name, now);  // before the count: a reader that sees no write in flight must see the fence
  [[maybe_unused]] const auto before =
      stripe(name).writes_in_flight.fetch_sub(1, std::memory_order_acq_rel);
  assert(before > 0);
}

void NameFences::raise(NameHash name, TimePoint now) noexcept {
  std::atomic<std::int64_t>& fence = stripe(name).fence;
  const std::int64_t wanted = now.time_since_epoch().count();
  std::int64_t seen = fence.load(std::memory_order_relaxed);
  while (seen < wanted && !fence.compare_exchange_weak(seen, wanted, std::memory_order_acq_rel)) {
  }
}

TimePoint NameFences::fence(NameHash name) const noexcept {
  return TimePoint(Nanos(stripe(name).fence.load(std::memory_order_acquire)));
}

bool NameFences::write_in_flight(NameHash name) const noexcept {
  return stripe(name).writes_in_flight.load(std::memory_order_acquire) > 0;
}

}  // namespace heatsink::client
