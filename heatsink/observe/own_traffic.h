// SPDX-License-Identifier: Apache-2.0
// Recognises heatsink's own commands, so that they are not counted as traffic.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

namespace heatsink::observe {

// Knows which connections are heatsink's own. Those of this process it knows by address. Trackers
// of other heatsink processes it recognises by their habit, whatever their heartbeat key is called:
// they send HELLO again and again, which no client does, and one EXISTS in between. Fixed memory;
// one thread.
class OwnTraffic {
 public:
  static constexpr std::size_t kConnectionsMax = 4096;  // connections whose HELLOs are counted
  static constexpr std::size_t kOwnMax = 256;

  // This process uses that address.
  void add(const std::string& address);

  // Returns true if the command is heatsink's own. Call it for each command, in order: `address` is
  // the sender ("127.0.0.1:54321"), `command` its name in lower case, `key` its only key or "".
  bool is_own(std::string_view address, std::string_view command, std::string_view key);

 private:
  std::deque<std::string> own_;
  boost::unordered_flat_map<std::string, std::uint32_t> hellos_;
};

}  // namespace heatsink::observe
