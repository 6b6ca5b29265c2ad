// SPDX-License-Identifier: Apache-2.0
// Adds up what each key had in a part of the history.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/heat/column.h"
#include "heatsink/heat/moment.h"

namespace heatsink::heat {

// Accesses of one key in the columns that name it. Each of `requests`, `writes` and `hits` is as
// the codes of the scale say; the bounds are of `requests`. In other columns the key may have had
// more (Sums::unnamed).
struct KeySum {
  Identity identity;
  double requests = 0, writes = 0, hits = 0;
  double low = 0, high = 0;
  double peak = 0;  // the rate of its busiest second, per second
};

// What writing a rate as a code changes at most, above 1/s.
inline constexpr double kScaleError = 0.03;

// A plain value.
struct Sums {
  TimePoint from{}, to{};  // of the columns; equal: there is none
  Nanos step{};            // of one column
  double seconds = 0;      // that were counted
  double requests = 0;     // of all keys
  // What one key may have had at most where a column does not name it, over all columns.
  double unnamed = 0;
  std::vector<KeySum> keys{};  // the busiest first
};

// `encodings`: how often a rate was written as a code until it stood in these columns; at least 1.
// A column that is made of finer ones has one more than these. `identity_of`: null for what is no
// key. O(cells).
using IdentityOf = std::function<const Identity*(IdentityId)>;
Sums sums_of(std::span<const Column> columns, Nanos step, std::size_t encodings,
             const IdentityOf& identity_of);

}  // namespace heatsink::heat
