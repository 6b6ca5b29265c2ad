// SPDX-License-Identifier: Apache-2.0
// Limits how fast clients may connect: from one network, and in all.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "heatsink/base/clock.h"

namespace heatsink::proxy {

// Connections per second; 0: no limit. The burst is the connections of one second.
struct ConnectionRates {
  std::int64_t in_all = 0;
  std::int64_t per_network = 0;  // an IPv4 address, or the /64 of an IPv6 address
};

// Each limit is a GCRA (ITU-T I.371) and needs one time per network: the time at which its past
// connections are paid for. A network whose time has passed need not be remembered. At most
// kNetworksMax networks are told apart; while all of these are remembered, further networks share
// one time. Thread-safe: one lock per connection, none without limits.
class ConnectionRate {
 public:
  static constexpr std::size_t kNetworksMax = 65'536;
  enum class Verdict : std::uint8_t { kAdmit, kTooManyInAll, kTooManyOfNetwork };

  explicit ConnectionRate(const ConnectionRates& rates)
      : in_all_(rates.in_all), per_network_(rates.per_network) {}

  // From now on. What was used up stays used up: a higher rate pays for it sooner, and a limit that
  // was off begins with a full burst.
  void set_rates(const ConnectionRates& rates) {
    in_all_.store(rates.in_all, std::memory_order_relaxed);
    per_network_.store(rates.per_network, std::memory_order_relaxed);
  }

  // `peer`: "10.0.0.7:54321" or "[::1]:54321". "unix:" has no network, so only the total limit
  // counts. A refused connection uses nothing up.
  Verdict admit(std::string_view peer, TimePoint now);

  std::size_t networks() const;  // number of remembered networks

 private:
  TimePoint& network(const std::string& name, TimePoint now);

  std::atomic<std::int64_t> in_all_;
  std::atomic<std::int64_t> per_network_;
  mutable std::mutex mutex_;
  TimePoint all_{};
  TimePoint others_{};
  TimePoint swept_{};
  std::unordered_map<std::string, TimePoint> networks_;
};

}  // namespace heatsink::proxy
