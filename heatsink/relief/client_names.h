// SPDX-License-Identifier: Apache-2.0
// Gives the addresses of clients small numbers, so that an access can carry one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "heatsink/base/clock.h"

namespace heatsink::proxy {

// One per process. Thread-safe: it takes a lock for each connection that opens or closes, and for
// each name that is shown. It tells at most kClientsMax addresses apart. The number of an address
// without connections is reused only when no window can still count that address.
class ClientNames {
 public:
  static constexpr std::uint32_t kClientsMax = 65'536;
  static constexpr std::uint32_t kOthers = kClientsMax;  // addresses without a number of their own
  static constexpr Nanos kRemembered = std::chrono::hours(1);  // the longest window

  // `peer`: "10.0.0.7:54321" or "[::1]:54321". Each enter() needs one leave().
  std::uint32_t enter(std::string_view peer, TimePoint now);
  void leave(std::uint32_t number, TimePoint now);

  std::size_t memory_bytes() const;  // approximate

  std::string name(std::uint32_t number) const;  // "10.0.0.7", "::1", "others"

 private:
  struct Client {
    std::string address;
    std::uint32_t connections = 0;
    TimePoint left_at{};
  };
  struct Gone {
    std::uint32_t number;
    TimePoint at;
  };

  std::uint32_t take_number(TimePoint now);
  bool is_gone(const Gone& gone) const;  // and has not come back since

  mutable std::mutex mutex_;
  std::vector<Client> clients_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::deque<Gone> gone_;  // by the time of the last connection; some have come back
};

}  // namespace heatsink::proxy
