// SPDX-License-Identifier: Apache-2.0
// Translates the addresses that servers announce into those at which this machine reaches them.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "heatsink/base/result.h"
#include "heatsink/net/address.h"

namespace heatsink::topology {

// Behind NAT, a port forward or a tunnel, nodes and Sentinels announce addresses that only their
// own network knows. Immutable; any thread.
class AddressTranslation {
 public:
  static constexpr std::size_t kPairsMax = 1024;

  // Parses "ANNOUNCED=REACHED" pairs with commas between them. Both sides are host:port, or both
  // are hosts, whose ports stay: "10.0.0.5:6379=127.0.0.1:7001,10.0.0.6=gateway". Error:
  // kInvalidArgument with the pair.
  static Result<AddressTranslation> parse(std::string_view text);

  // A pair for the host with its port comes before one for the host. Without a pair the address
  // stays as it is. O(log pairs).
  net::HostPort reached(const net::HostPort& announced) const;

 private:
  std::map<std::string, net::HostPort, std::less<>> exact_;
  std::map<std::string, std::string, std::less<>> hosts_;
};

}  // namespace heatsink::topology
