// SPDX-License-Identifier: Apache-2.0
// Holds the input of the advice: the traffic of one key, and where the key is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "heatsink/base/clock.h"
#include "heatsink/base/units.h"

namespace heatsink::advice {

// Server time per command. The defaults are those of Redis 7.0 with small strings, each read a
// separate request. docs/design/coherence.md says how a push and a fill were measured.
struct ServerCosts {
  double read_us = 3.0;
  double write_us = 3.0;
  double push_us = 5.0;  // the invalidation sent to one process
  double fill_us = 8.0;  // PTTL and the read, and the entry in the tracking table
};

// Reliefs in force for a key. Unknown ones count as not in force.
struct InForce {
  double hit_ratio = 0;        // part of its reads answered by local copies, 0 .. 1
  bool warmed = false;         // an order keeps it hot
  Nanos coalesce{0};           // how long its writes are gathered; 0: they are not
  Nanos stale_while_error{0};  // 0: off
  std::string limit{};         // as text; "": none
  double limited_rate = 0;     // commands per second that the limit holds back
};

// The clients of the key, and their use of it.
struct KeyUse {
  std::size_t clients = 0;  // at least this many addresses; 0: not known
  // Parts of its accesses made by the busiest clients, 0 .. 1; 0: not known.
  double first_client = 0;
  double second_client = 0;
  // Part of its writes that can be gathered (SET, INCR, DECR and the like); nothing: not known.
  std::optional<double> gatherable{};
  bool is_sample_log = false;   // a sorted set or list with the samples of the last minutes
  bool is_limit_state = false;  // the library's state of a limit across processes
};

struct KeyTraffic {
  double reads_rate = 0;         // per second, of all readers
  double writes_rate = 0;        // per second
  double node_rate = 0;          // requests per second for all keys of its node; 0: not known
  std::optional<Bytes> value{};  // its size, if known
  // Processes that would hold copies: proxies, or applications with the library. At least 1.
  std::uint32_t holders = 1;
  std::uint32_t masters = 1;  // nodes over which keys can be split; 1: no cluster
  // How many replicas its node has; nothing: not known.
  std::optional<std::uint32_t> replicas = 0;
  bool reads_can_be_local = true;  // copies can answer its commands
  std::optional<Nanos> ttl{};      // until it expires; nothing: never, or not known
  std::uint32_t workers = 1;       // of the proxy: each gathers its own writes. At least 1
  KeyUse use{};
  InForce in_force{};
};

}  // namespace heatsink::advice
