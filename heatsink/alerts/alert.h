// SPDX-License-Identifier: Apache-2.0
// Defines an alert: what has happened, to what, and what to do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "heatsink/base/clock.h"

namespace heatsink::alerts {

enum class Kind : std::uint8_t {
  kHot,           // a key became hot
  kExtremelyHot,  // a hot key takes a large part of the traffic, or many requests
  kWriteHot,      // a key is hot by its writes, which no copy can take
  kImbalance,     // a node of the cluster has much more load than the others
  kHitRatio,      // copies answer much less of the reads than they did
  kStale,         // a copy was proven stale
  kServerDown,    // the server cannot be reached
  kTest,          // by `heatsink alert test`
};
inline constexpr std::size_t kKinds = 8;
std::string_view to_string(Kind kind);  // "extremely-hot", as in alerts.on

enum class Severity : std::uint8_t { kInfo, kWarning, kCritical };
std::string_view to_string(Severity severity);  // "info", "warning", "critical"
Severity severity_of(Kind kind);

// A plain value. Texts are for people: escaped, on one line, with names as privacy.redact-keys
// says.
struct Alert {
  Kind kind = Kind::kTest;
  // The key or the node that it is about. With the kind, the database and the hash it identifies
  // the alert.
  std::string subject = {};
  std::uint32_t db = 0;
  // For alerts of a key: tells long names apart, of which `subject` has a part. The same in all
  // processes.
  std::uint64_t key_hash = 0;
  std::string summary = {};  // "page:1 is extremely hot: 12034/s, 49.9 % of the traffic"
  std::string advice = {};   // what to do, a sentence
  double rate = 0;           // of a key: requests per second
  double share = 0;          // of a key: part of the traffic, 0 .. 1
  TimePoint since{};

  std::string identity() const;
};

// The message about an alert that a target gets.
struct Notice {
  Alert alert;
  bool is_over = false;
  bool is_repeat = false;
};

// An alert that targets were told of, as one process leaves it to the next one. A plain value.
struct ToldAlert {
  Alert alert;
  TimePoint told_at{};   // the last time
  bool is_over = false;  // its end has still to be told
};

}  // namespace heatsink::alerts
