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

// A key as a source knows it. `count` has name, hash, db and the sampled parts (reads, writes,
// tallies); of the parts only the proportions are used.
struct KeyRow {
  detect::KeyCount count;
  RateBounds rate;
  std::string reason{};  // "": the reason states its share
  // Values that the source knows better than make_report() can derive from the rate; nothing:
  // derive them.
  std::optional<double> share{};
  std::optional<double> share_low{};  // the proven part of the share
  std::optional<bool> is_hot{};
  detect::Dimension dimension = detect::Dimension::kRequests;  // what the rate counts
};

struct Totals {
  double requests_rate = 0;
  double reads_rate = 0;
  double writes_rate = 0;
  std::uint64_t clients = 0;
};

inline constexpr std::size_t kRowsMax = 100;

// Judges the rows as a proxy does by default (detect::set_thresholds()), by what is proven. Rows of
// bytes have no rate of accesses: their share alone counts. Sorts the rows, keeps the kRowsMax
// busiest, and scales their counts to `window`. `upstream`: the server, without a password;
// `watched`: for how long it has been observed.
report::Report make_report(std::vector<KeyRow> rows, const Totals& totals, std::string upstream,
                           Nanos window, Nanos watched, TimePoint now);

}  // namespace heatsink::observe
