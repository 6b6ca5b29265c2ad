// SPDX-License-Identifier: Apache-2.0
// Simulates a fleet: members of heatsink/fleet in virtual time, before a server in memory.
#pragma once

#include <cstdint>

#include "heatsink/base/clock.h"

namespace heatsink::bench {

struct FleetLoad {
  std::uint64_t instances = 100;
  std::uint64_t shards = 1;
  double each_per_s = 500;    // accesses of one instance
  double hot_share = 0.05;    // part of them that the new hot key gets: five times the threshold
  std::uint64_t keys = 2000;  // of the others, equally busy
};

struct FleetFound {
  bool by_all = false;
  // Since the first access of the hot key; most: 99 % of the instances.
  double first_s = 0, median_s = 0, most_s = 0, last_s = 0;
  double reports_per_s = 0;
  double commands_per_s = 0;                 // of all kinds, mergers included
  double in_mb_per_s = 0, out_mb_per_s = 0;  // to the server, from the server
  double step_s = 0;                         // of the list
};

// The fleet runs until it knows itself; then the key begins to get its share. Deterministic.
FleetFound simulate_fleet(const FleetLoad& load);

// What a server does while all members see a new key: from its first access until all know it.
struct ServerEvent {
  bool by_all = false;
  double seconds = 0;
  double median_s = 0, last_s = 0;  // until an instance called the key hot
  double cores = 0, cores_max = 0;  // CPU of the server: in all of it, in the busiest second
  double reports_per_s = 0;
};

// The same members in real time, each with a connection of its own to a redis-server for `time`
// of peace or a little longer, and then in an event. Negative: there is no redis-server.
struct ServerCost {
  double cores = -1;  // CPU of the server
  double reports_per_s = 0;
  ServerEvent event;
};
ServerCost measure_server(std::uint64_t instances, Nanos time);
// What a server's thread needs to wake up, read and write here: PINGs, so many per second, each on
// its own connection. The yardstick of the above.
double cores_of_pings(double per_s, Nanos time);

}  // namespace heatsink::bench
