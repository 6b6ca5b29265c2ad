// SPDX-License-Identifier: Apache-2.0
// What a person is shown of a node at one moment: its totals, and its hot keys with their evidence.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/base/units.h"
#include "heatsink/detect/verdict.h"

namespace heatsink::report {

struct KeyReport {
  detect::Verdict verdict;  // name, db, rate and bounds, share, reads, writes, hits (in the
                            // window), since, reason
  bool cached = false;      // has a local copy right now
  std::string
      cache_note;  // why it has none: "value larger than cache.maximum-value-bytes", "" if cached
  std::string level = "off";  // what is promised of its copies, in the words of who keeps them
  std::optional<Nanos> max_staleness{};  // of a copy, if there is such a bound
  std::optional<Bytes> reply_bytes{};    // of the longest reply among its copies
  std::string limit{};      // "5000/s per key, ...", by its rule or because it is so hot; "": none
  double limited_rate = 0;  // commands on it per second that are refused, made to wait, or answered
                            // from a copy that may be stale
  bool warmed = false;      // kept hot by an order
  Nanos coalesce{0};        // its writes are gathered for so long; 0: they are not
  Nanos stale_while_error{
      0};  // its copy is served so long past its proof in an outage; 0: it is not
};

// Rates are per second over the window. A plain value, made by whoever watches (the proxy), read by
// admin.
struct Report {
  TimePoint at{};
  Nanos window{};
  Nanos uptime{};
  std::string upstream;  // "127.0.0.1:6379", never with a password
  bool upstream_up = false;
  std::string upstream_problem;  // why it is not up; ""
  std::string coherence;         // "up", or why no local copies are served now, in one sentence
  double requests_rate = 0;      // keyed accesses seen
  double reads_rate = 0;
  double writes_rate = 0;
  double hits_rate = 0;    // answered locally: the load taken off the server
  double misses_rate = 0;  // reads that went upstream
  double hit_ratio = 0;    // hits / reads, 0 .. 1
  double offload = 0;      // hits / requests, 0 .. 1
  // The thresholds for all keys, per second in the unit of what is counted; rules may have others.
  detect::Dimension dimension = detect::Dimension::kRequests;
  double hot = 0;
  double warm = 0;
  std::uint64_t rules = 0;    // for some keys
  std::uint64_t workers = 0;  // threads that serve clients; 0: not known, or there are none
  bool redacted = false;      // what is shown of a key's name is a hash of it
  std::string hot_means;      // "what has at least 3000/s (detection.hot-qps)"; "": not told
  std::string
      quiet;  // what it means that nothing is hot: "no key reaches 3000/s (detection.hot-qps)"
  bool sampled = false;  // Summary::sampled
  // What a key that is not listed can have at most, accesses per second; nothing: not known.
  std::optional<double> absent_max{};
  std::uint64_t clients = 0;
  std::uint64_t hot_keys = 0;
  std::uint64_t write_hot_keys = 0;
  std::uint64_t cached_entries = 0;
  std::uint64_t cached_bytes = 0;
  std::uint64_t stale_confirmed = 0;  // copies proven stale since the start: coherence is broken
  std::vector<KeyReport> keys;  // hot, write-hot and warm, busiest first; empty: nothing is hot
};

}  // namespace heatsink::report
