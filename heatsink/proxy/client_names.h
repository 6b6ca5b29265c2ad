// SPDX-License-Identifier: Apache-2.0
// Small numbers for the addresses that clients come from, so that an access can carry one.
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

// Of one process. Thread-safe: a lock for each connection that comes or goes, and for each name
// that is shown. At most kClientsMax addresses are told apart; the number of one that has gone is
// given to another only when no window can remember it any more.
class ClientNames {
 public:
  static constexpr std::uint32_t kClientsMax = 65'536;
  static constexpr std::uint32_t kOthers = kClientsMax;        // those that found no number
  static constexpr Nanos kRemembered = std::chrono::hours(1);  // the longest window

  // `peer` as "10.0.0.7:54321" or "[::1]:54321". Each enter() wants its leave().
  std::uint32_t enter(std::string_view peer, TimePoint now);
  void leave(std::uint32_t number, TimePoint now);

  std::size_t memory_bytes() const;  // about

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
  bool is_gone(const Gone& gone) const;  // and has not been back since

  mutable std::mutex mutex_;
  std::vector<Client> clients_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::deque<Gone> gone_;  // in the order in which their last connection went; some are back
};

}  // namespace heatsink::proxy
