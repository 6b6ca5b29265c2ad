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

// Which connections are heatsink's own: those of this process, by their addresses, and those that
// keep copies coherent, whatever their heartbeat's key is called. These say HELLO again and again,
// which no client does, and between ask one EXISTS. Fixed memory; one thread.
class OwnTraffic {
 public:
  static constexpr std::size_t kConnectionsMax = 4096;  // whose HELLO is remembered
  static constexpr std::size_t kOwnMax = 256;

  // This process asks from there.
  void add(const std::string& address);

  // A command that came from `address` ("127.0.0.1:54321"), its name in lower case; for each, in
  // their order. `key`: its only key, or "". True: it is no traffic.
  bool is_own(std::string_view address, std::string_view command, std::string_view key);

 private:
  std::deque<std::string> own_;
  boost::unordered_flat_map<std::string, std::uint32_t> hellos_;
};

}  // namespace heatsink::observe
