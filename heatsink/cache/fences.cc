// SPDX-License-Identifier: Apache-2.0
#include "heatsink/cache/fences.h"

#include <algorithm>
#include <cassert>

namespace heatsink::cache {

Fences::Fences() : stripes_(new Stripe[kStripes]) {}

void Fences::write_begins(NameHash name) noexcept {
  stripe(name).writes_in_flight.fetch_add(1, std::memory_order_acq_rel);
}

void Fences::write_ends(NameHash name, TimePoint now) noexcept {
  raise(name, now);  // before the count: a reader that sees no write in flight must see the fence
  [[maybe_unused]] const auto before =
      stripe(name).writes_in_flight.fetch_sub(1, std::memory_order_acq_rel);
  assert(before > 0);
}

void Fences::raise(NameHash name, TimePoint now) noexcept { raise(stripe(name).fence, now); }

void Fences::raise(std::atomic<std::int64_t>& fence, TimePoint now) noexcept {
  const std::int64_t wanted = now.time_since_epoch().count();
  std::int64_t seen = fence.load(std::memory_order_relaxed);
  while (seen < wanted && !fence.compare_exchange_weak(seen, wanted, std::memory_order_acq_rel)) {
  }
}

TimePoint Fences::fence(NameHash name) const noexcept {
  return TimePoint(Nanos(std::max(stripe(name).fence.load(std::memory_order_acquire),
                                  all_.load(std::memory_order_acquire))));
}

TimePoint Fences::fence_to_join(NameHash name) const noexcept {
  const TimePoint unknown(Nanos(unknown_.load(std::memory_order_acquire)));
  return std::max(fence(name), unknown);
}

bool Fences::write_in_flight(NameHash name) const noexcept {
  return stripe(name).writes_in_flight.load(std::memory_order_acquire) > 0;
}

}  // namespace heatsink::cache
