// SPDX-License-Identifier: Apache-2.0
// What people see of the choice of copies: what it is, what it saves, what it refuses, and what
// another budget would save.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "heatsink/admit/price_scale.h"
#include "heatsink/base/clock.h"
#include "heatsink/base/units.h"

namespace heatsink::report {

// Shares are of the reads, 0 .. 1, less what copies cost the server, and may be below 0.
struct CopiesReport {
  struct Choice {
    std::uint32_t reads = 0;    // a key gets a copy at this read ...
    std::uint64_t history = 0;  // ... among so many reads of keys without a copy
    std::string order;          // in which copies leave: "sieve", "clock"
  };
  std::optional<Choice> choice{};  // nothing: no choice saves enough, so nothing is copied
  double saved = 0;                // by the choice, as its simulation says

  // In reads that a copy spares the server.
  double fill_cost = 0;
  double fill_cost_spread = 0;  // how far it wandered lately: two standard deviations
  double invalidation_cost = 0;
  // The server's CPU time for such a read; nothing: unknown.
  std::optional<Nanos> read_cpu{};
  // The proxy's CPU time: what a hit spares it, and what a fill takes its keeper; nothing: there is
  // no proxy.
  std::optional<Nanos> proxy_read_cpu{}, proxy_fill_cpu{};
  // How many times the built-in prices, which are of one machine, are taken for these figures; and
  // how much longer a read waits for a fill than for the server's own answer.
  struct Prices {
    admit::Scale server{}, keeper{}, worker{};
    Nanos fill_wait{0};
  };
  std::optional<Prices> prices{};  // nothing: there is no proxy

  // Counts since the start.
  struct Refused {
    std::uint64_t seldom_read = 0;  // reads after which the key had not earned a copy
    std::uint64_t written = 0;      // copies that a write ended before they paid for their fill
    std::uint64_t too_big = 0;      // fills whose value was too big for a copy
    std::uint64_t no_room = 0;      // fills for which the cache or the server had no room
  };
  Refused refused{};

  std::uint64_t entries_max = 0;  // keys that fit
  Bytes bytes_max{};

  struct Point {
    std::uint64_t entries;
    double saved;
  };
  std::vector<Point> curve{};  // by rising entries; empty: not known yet

  // The savings of one key's copies now. Rates are per second, of about the last 10 s.
  struct Copy {
    std::string name;  // at most kKeyBytesMax bytes
    bool name_truncated = false;
    std::uint32_t db = 0;
    std::vector<std::string> commands{};  // "GET": what its copies answer; empty: it has none now
    double hits = 0;
    double hits_error = 0;  // two standard deviations; 0: each hit was counted
    double fills = 0;
    double invalidations = 0;
    double saved = 0;  // reads, less what its copies cost
    Bytes bytes{};     // of its copies
  };
  static constexpr std::size_t kTopMax = 50;
  std::vector<Copy> top{};  // those that save most, the best one first
};

// The part of one core of the server that the copies of a key spare; nothing: unknown.
std::optional<double> server_cpu(const CopiesReport& report, const CopiesReport::Copy& copy);

// A sentence about the size of the cache; "": the curve is not known yet.
std::string budget_advice(const CopiesReport& report);

}  // namespace heatsink::report
