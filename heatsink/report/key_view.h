// SPDX-License-Identifier: Apache-2.0
// Holds what people see of a hot key, as plain values: the API writes it, top reads it back, and an
// observed server's keys are shown from it. key_fields.h has the members' names in JSON.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/base/units.h"
#include "heatsink/report/node_report.h"

namespace heatsink::report {

// A command or a client, and its part of a key's accesses.
struct TallyView {
  std::string name;
  double count = 0;  // lower bound, in the window
  double doubt = 0;  // upper bound minus lower bound
};

inline constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
// Counts an unknown value as 0.
inline double known(double value) { return std::isnan(value) ? 0 : value; }
// An infinite value is not known either: JSON has no word for it.
inline double finite_or_unknown(double value) { return std::isfinite(value) ? value : kUnknown; }

// Rates are per second; ratios and shares 0 .. 1. A number that the source does not know is
// kUnknown (NaN), another value empty. Text is printable.
struct KeyView {
  std::string name;  // escaped
  // Its bytes, or their beginning if `name_truncated`. All sources must set it: filters, templates
  // and slots use it.
  std::string raw_name;
  bool name_truncated = false;
  std::uint64_t db = 0;
  double rate = 0, rate_low = 0, rate_high = 0;
  double share = 0;
  // In the time that they cover (`counted`; 0: the whole window).
  double reads = 0, writes = 0, hits = 0, misses = 0;
  double bytes = 0;   // of requests and replies
  double spared = 0;  // KeyReport::spared
  Nanos counted{};
  double reads_rate = 0, writes_rate = 0, hits_rate = 0;  // accesses; complete() sets them
  std::string rule;                                       // "": the default
  std::string dimension;                     // what `rate` counts: "requests", "bytes" ...
  Nanos window{};                            // the window of the count
  std::vector<TallyView> commands, clients;  // busiest first
  double hit_ratio = 0;
  double offload = kUnknown;  // load taken off the key, as a part of its accesses; or < 0
  Nanos age{};                // how long it has had its verdict
  std::string verdict;        // "hot", "write-hot", "warm"
  bool unproven = false;      // it is not known to be hot, but may be: see is_unproven()
  std::string reason;
  bool cached = false;
  std::string cache_note;  // why it is not
  std::string level;       // the guarantee for its copies: "off", "ttl", "key", "session"
  std::optional<Nanos> max_staleness;  // of a copy, if it has a bound
  std::string limit;                   // "5000/s per key, ..."; "": none
  double limited_rate = 0;             // commands held back by the limit
  bool warmed = false;                 // an order keeps it hot
  Nanos coalesce{};                    // how long its writes are gathered; 0: they are not
  Nanos stale_while_error{};           // 0: off
  std::uint64_t kept_by = 0;           // clients that keep it in caches of their own

  // Reads that the server had to answer; for an observed server see absent_rate.
  double misses_rate = 0;
  double absent_rate = kUnknown;                   // reads that found no key
  std::optional<Nanos> latency_mean, latency_p99;  // of the commands on it, from a capture
  double bytes_rate = kUnknown;                    // of requests and replies
  std::optional<Bytes> reply_bytes;                // of the longest reply among its copies
  std::optional<Bytes> value_bytes;   // size of its value, or of the longest reply seen
  std::optional<Bytes> memory_bytes;  // memory on the server
  std::string type, encoding;         // "hash", "listpack"; "": unknown
  std::optional<Nanos> ttl;           // until it expires
  bool never_expires = false;         // it has no TTL; with neither, the TTL is unknown
  std::string value_problem{};        // why members about the value are missing; or ""
  std::string node;                   // "10.0.0.7:6379" in a cluster
  std::optional<std::uint16_t> slot;  // as reported; else calculated from the name
};

// `at`: the time of the report that has the key.
KeyView key_view(const KeyReport& key, TimePoint at);
// The view of a template has a part of the members of a key's.
KeyView template_view(const TemplateReport& pattern);

// Sets the rates that follow from the counts, and the size that follows from the replies. REQUIRES
// the rate and the dimension. The counts cover the part of the window in which the key was tracked,
// so only their proportions are comparable with a rate of accesses. If something else is counted,
// they are all that is known.
void complete(KeyView& key);
// Sets the misses and the hit ratio of a template, which follow from its other rates.
void set_hits(KeyView& pattern);

}  // namespace heatsink::report
