// SPDX-License-Identifier: Apache-2.0
#include "heatsink/client/name_fences.h"

#include <cassert>

#include "heatsink/cache/entry.h"

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
  cache::raise_to(stripe(name).fence, now);
}

TimePoint NameFences::fence(NameHash name) const noexcept {
  return TimePoint(Nanos(stripe(name).fence.load(std::memory_order_acquire)));
}

bool NameFences::write_in_flight(NameHash name) const noexcept {
  return stripe(name).writes_in_flight.load(std::memory_order_acquire) > 0;
}

}  // namespace heatsink::client
