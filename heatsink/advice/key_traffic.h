// SPDX-License-Identifier: Apache-2.0
// The input of the advice: the traffic of one key, and where the key lives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "heatsink/base/clock.h"
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

// What is done about a key already. What is not known counts as not done.
struct InForce {
  double hit_ratio = 0;        // part of its reads that local copies answer, 0 .. 1
  bool warmed = false;         // kept hot by an order
  Nanos coalesce{0};           // its writes are gathered for so long; 0: they are not
  Nanos stale_while_error{0};  // 0: off
  std::string limit{};         // in words; "": it has none
  double limited_rate = 0;     // commands per second that the limit holds back
};

// Who uses the key, and how.
struct KeyUse {
  std::size_t clients = 0;  // different addresses, at least so many; 0: not known
  // Parts of its accesses by the busiest of them, 0 .. 1; 0: not known.
  double first_client = 0;
  double second_client = 0;
  // Part of its writes that could be gathered (SET, INCR, DECR and their like); nothing: not known.
  std::optional<double> gatherable{};
  bool is_sample_log = false;   // a sorted set or list that holds the samples of the last minutes
  bool is_limit_state = false;  // what the library keeps of a limit across processes
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
  std::optional<Nanos> ttl{};      // until it expires; nothing: it does not, or it is not known
  std::uint32_t workers = 1;       // of the proxy: each gathers writes for itself. At least 1
  KeyUse use{};
  InForce in_force{};
};

}  // namespace heatsink::advice
