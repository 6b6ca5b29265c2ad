// SPDX-License-Identifier: Apache-2.0
// The statistics of a Client, as plain values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heatsink/base/clock.h"

namespace heatsink::client {

// How often a Client has done what. Accesses are counted up to 0.1 s late.
struct Counts {
  std::uint64_t reads = 0;  // hits among them
  std::uint64_t writes = 0;
  std::uint64_t hits = 0;  // served from a local copy
  std::uint64_t promotions = 0;
  std::uint64_t demotions = 0;
  std::uint64_t loads = 0;  // of kept keys without a copy, in a caller's thread
  std::uint64_t load_failures = 0;
  std::uint64_t waits = 0;   // callers that waited for another caller's load
  std::uint64_t misses = 0;  // reads of kept keys that no copy answered
  std::uint64_t source_loads =
      0;                        // that kept keys took: loads, refreshes, and those ahead of reads
  std::uint64_t refusals = 0;   // LoadRefused
  std::uint64_t refreshes = 0;  // successful loads in the background
  std::uint64_t refresh_failures = 0;
  std::uint64_t refresh_drops = 0;  // keys whose refresh failed too often in a row
  std::uint64_t stale_served = 0;   // expired copies served because their load failed
  std::uint64_t no_room = 0;        // values not kept: cache.maximum-bytes, cache.maximum-nil
  // With a server:
  std::uint64_t invalidations = 0;  // changed keys that the server has notified
  std::uint64_t flushes = 0;        // how often all copies were dropped: FLUSHALL, server lost
  // What the library itself has sent to track keys and to prove copies: two commands for each load,
  // heartbeats, handshakes, the fleet's.
  std::uint64_t own_commands = 0;
};

// The counts of the base class are totals since the Client was made.
struct Stats : Counts {
  // Over detection.window, as of the last tick.
  double reads_per_second = 0;
  double writes_per_second = 0;
  double hit_ratio = 0;      // hits among all reads, 0 .. 1
  double hot_share = 0;      // accesses of hot keys among all accesses, 0 .. 1
  double distinct_keys = 0;  // keys that were accessed; standard error 3.3 %
  double distinct_keys_per_second = 0;
  // The counts of the last window alone, to a tenth of the window.
  Counts in_window;

  std::uint64_t hot_keys = 0;  // now, with those that warm() made hot
  std::uint64_t copies = 0;
  std::uint64_t copies_bytes = 0;  // with their names, as SizeOf counts (size_of.h)

  // Consistency level of the copies: "ttl", or with a server "key" (docs/guides/consistency.md).
  std::string level = "ttl";
  // With a server: why there are no copies now; "": all is well.
  std::string server_problem;
};

// A key as detection sees it. Rates are per second; the true rate lies in [rate_low, rate_high].
struct HotKeyInfo {
  std::string key;
  std::string temperature;  // "hot", "write-hot", "warm"
  double rate_low = 0, rate_high = 0;
  double share = 0;                               // of all traffic, 0 .. 1
  std::uint64_t reads = 0, writes = 0, hits = 0;  // in the window
  TimePoint since{};
  std::string reason;
};

// A key became hot, or is no longer hot.
struct HotEvent {
  std::string key;
  bool is_hot = false;
  std::string reason;
};

}  // namespace heatsink::client
