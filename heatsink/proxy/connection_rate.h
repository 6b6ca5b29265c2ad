// SPDX-License-Identifier: Apache-2.0
// How fast new clients may come: from one network, and in all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "heatsink/base/clock.h"

namespace heatsink::proxy {

// Connections per second; 0: no limit. As many may come at once as in one second.
struct ConnectionRates {
  std::int64_t in_all = 0;
  std::int64_t per_network = 0;  // an IPv4 address, or the /64 of an IPv6 address
};

// Each limit is a GCRA (ITU-T I.371): one moment per network says when it will have used up
// nothing, so that a network whose moment has passed need not be remembered. At most kNetworksMax
// are told apart; while all of those are still remembered, the others share one place. Thread-safe:
// a lock for each connection, none without limits.
class ConnectionRate {
 public:
  static constexpr std::size_t kNetworksMax = 65'536;
  enum class Verdict : std::uint8_t { kAdmit, kTooManyInAll, kTooManyOfNetwork };

  explicit ConnectionRate(const ConnectionRates& rates) : rates_(rates) {}

  // `peer` as "10.0.0.7:54321" or "[::1]:54321"; "unix:" has no network, only the limit in all
  // counts for it. What is refused counts for nothing.
  Verdict admit(std::string_view peer, TimePoint now);

  std::size_t networks() const;  // remembered now

 private:
  TimePoint& network(const std::string& name, TimePoint now);

  const ConnectionRates rates_;
  mutable std::mutex mutex_;
  TimePoint all_{};
  TimePoint others_{};
  TimePoint swept_{};
  std::unordered_map<std::string, TimePoint> networks_;
};

}  // namespace heatsink::proxy
