// SPDX-License-Identifier: Apache-2.0
// Says in which availability zone a server is, as the configuration names it.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "heatsink/base/result.h"
#include "heatsink/net/address.h"

namespace heatsink::topology {

// Immutable; any thread.
class Zones {
 public:
  static constexpr std::size_t kPairsMax = 1024;
  static constexpr std::size_t kNameBytesMax = 64;

  // Parses "SERVER=ZONE" pairs with commas between them; a server is host:port or a host:
  // "10.0.0.5:6379=eu-1a,10.0.1.6=eu-1b". Error: kInvalidArgument with the pair.
  static Result<Zones> parse(std::string_view text);

  // A pair for the host with its port comes before one for the host. "": not known. O(log pairs).
  std::string of(const net::HostPort& server) const;

 private:
  std::map<std::string, std::string, std::less<>> servers_;
};

}  // namespace heatsink::topology
