// SPDX-License-Identifier: Apache-2.0
#include "heatsink/relief/connection_rate.h"

#include <algorithm>
#include <utility>

#include "heatsink/net/address.h"

namespace heatsink::proxy {
namespace {

constexpr Nanos kBurst = std::chrono::seconds(1);

Nanos interval(std::int64_t per_second) { return Nanos(std::chrono::seconds(1)) / per_second; }

// Whether one more connection is allowed. REQUIRES per_second > 0.
bool has_room(TimePoint used_up, std::int64_t per_second, TimePoint now) {
  return std::max(used_up, now) + interval(per_second) <= now + kBurst;
}

void take(TimePoint& used_up, std::int64_t per_second, TimePoint now) {
  used_up = std::max(used_up, now) + interval(per_second);
}

}  // namespace

ConnectionRate::Verdict ConnectionRate::admit(std::string_view peer, TimePoint now) {
  const ConnectionRates rates{in_all_.load(std::memory_order_relaxed),
                              per_network_.load(std::memory_order_relaxed)};
  if (rates.in_all == 0 && rates.per_network == 0) return Verdict::kAdmit;
  const std::string name = rates.per_network > 0 ? net::network_of(peer) : std::string();
  const std::lock_guard lock(mutex_);
  if (rates.in_all > 0 && !has_room(all_, rates.in_all, now)) return Verdict::kTooManyInAll;
  if (!name.empty()) {
    TimePoint& used_up = network(name, now);
    if (!has_room(used_up, rates.per_network, now)) return Verdict::kTooManyOfNetwork;
    take(used_up, rates.per_network, now);
  }
  if (rates.in_all > 0) take(all_, rates.in_all, now);
  return Verdict::kAdmit;
}

// Removes expired networks at most once per burst: the networks still in the table then have
// connected since.
TimePoint& ConnectionRate::network(const std::string& name, TimePoint now) {
  if (const auto found = networks_.find(name); found != networks_.end()) return found->second;
  if (networks_.size() >= kNetworksMax / 2 && now - swept_ >= kBurst) {
    swept_ = now;
    std::erase_if(networks_, [now](const auto& each) { return each.second <= now; });
  }
  if (networks_.size() >= kNetworksMax) return others_;
  return networks_[name];
}

std::size_t ConnectionRate::networks() const {
  const std::lock_guard lock(mutex_);
  return networks_.size();
}

}  // namespace heatsink::proxy
