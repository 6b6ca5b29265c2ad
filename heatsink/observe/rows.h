// SPDX-License-Identifier: Apache-2.0
// Makes a report from estimated rates.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "heatsink/observe/rate_bounds.h"
#include "heatsink/report/node_report.h"

namespace heatsink::observe {

// A key as a source knows it. Of `count`: name, hash, db, and the parts (reads, writes, tallies) of
// what was seen, whose proportions alone count.
struct KeyRow {
  detect::KeyCount count;
  RateBounds rate;
  std::string reason{};  // "": its share is told
  // What the source itself knows better than what is made of the rate; nothing: not told.
  std::optional<double> share{};
  std::optional<double> share_low{};  // what of the share is proven
  std::optional<bool> is_hot{};
  detect::Dimension dimension = detect::Dimension::kRequests;  // of the rate
};

struct Totals {
  double requests_rate = 0;
  double reads_rate = 0;
  double writes_rate = 0;
  std::uint64_t clients = 0;
};

inline constexpr double kHotShare = 0.1;
inline constexpr double kWarmShare = 0.01;
inline constexpr std::size_t kRowsMax = 100;

// Judges and orders the rows, keeps the kRowsMax busiest, and scales their counts to `window`.
// `upstream`: the server, without a password; `watched`: since when.
report::Report make_report(std::vector<KeyRow> rows, const Totals& totals, std::string upstream,
                           Nanos window, Nanos watched, TimePoint now);

}  // namespace heatsink::observe
