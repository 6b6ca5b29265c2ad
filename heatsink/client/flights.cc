// SPDX-License-Identifier: Apache-2.0
#include "heatsink/client/flights.h"

#include <utility>

namespace heatsink::client {

std::shared_ptr<Flight> Flights::take_off(std::shared_ptr<Flight>& latest, TimePoint now,
                                          TimePoint not_before) {
  if (latest != nullptr && latest->sent_at > not_before) return nullptr;
  latest = std::make_shared<Flight>(now);
  return latest;
}

Flights::Seat Flights::board(KeyHash hash, TimePoint now, TimePoint not_before) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<Flight>& latest = under_way_[hash];
  if (auto own = take_off(latest, now, not_before)) return {Role::kLeads, std::move(own)};
  if (latest->waiters >= waiters_max_) return {Role::kRefused, nullptr};
  if (latest->has_landed == nullptr) latest->has_landed = runtime_.make_condition();
  ++latest->waiters;
  return {Role::kWaits, latest};
}

std::shared_ptr<Flight> Flights::lead(KeyHash hash, TimePoint now, TimePoint not_before) {
  const std::lock_guard lock(mutex_);
  return take_off(under_way_[hash], now, not_before);
}

void Flights::land(KeyHash hash, const std::shared_ptr<Flight>& flight, SharedBox box,
                   std::exception_ptr error) {
  {
    const std::lock_guard lock(mutex_);
    flight->is_over = true;
    flight->box = std::move(box);
    flight->error = std::move(error);
    const auto at = under_way_.find(hash);
    if (at != under_way_.end() && at->second == flight) under_way_.erase(at);
  }
  if (flight->has_landed != nullptr) flight->has_landed->notify_all();
}

bool Flights::wait(Flight& flight, Nanos at_most) {
  std::unique_lock lock(mutex_);
  const bool in_time = wait_until(runtime_, *flight.has_landed, lock, runtime_.now() + at_most,
                                  [&] { return flight.is_over; });
  --flight.waiters;
  return in_time;
}

}  // namespace heatsink::client
