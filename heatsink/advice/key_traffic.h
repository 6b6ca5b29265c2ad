// SPDX-License-Identifier: Apache-2.0
// What advice is given on: the traffic of one key, and where it lives.
#pragma once

#include <cstdint>
#include <optional>

#include "heatsink/base/units.h"

namespace heatsink::advice {

// Server time per command. The defaults: Redis 7.0 and small strings, each read a request of its
// own. docs/design/coherence.md tells how a push and a fill were measured.
struct ServerCosts {
  double read_us = 3.0;
  double write_us = 3.0;
  double push_us = 5.0;  // telling one process that its copy is void
  double fill_us = 8.0;  // PTTL and the read, and entering the key into the tracking table
};

struct KeyTraffic {
  double reads_rate = 0;         // per second, of all readers together
  double writes_rate = 0;        // per second
  double node_rate = 0;          // requests per second of all keys of its node; 0: not known
  std::optional<Bytes> value{};  // its size, where known
  // Processes that would hold copies: proxies, or applications that link the library. At least 1.
  std::uint32_t holders = 1;
  std::uint32_t masters = 1;  // nodes that keys can be split over; 1: no cluster
  // Of its node; none: not known.
  std::optional<std::uint32_t> replicas = 0;
  bool reads_can_be_local = true;  // its commands are among those that are served from copies
};

}  // namespace heatsink::advice
