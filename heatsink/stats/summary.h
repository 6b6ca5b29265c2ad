// SPDX-License-Identifier: Apache-2.0
// Holds the statistics of a set of numbers; mergeable in any order and grouping.
#pragma once

#include <cstdint>

#include "heatsink/stats/histogram.h"

namespace heatsink::stats {

__extension__ using Sum = __int128;  // exact: 2^64 numbers of 63 bits fit

// A plain value. Count, sum and extremes are exact, quantiles within kErrorMax.
struct Summary {
  std::uint64_t count = 0;
  Sum sum = 0;
  std::int64_t min = INT64_MAX;  // without numbers: min > max
  std::int64_t max = INT64_MIN;
  Histogram histogram;

  void add(std::int64_t value) {
    ++count;
    sum += value;
    min = value < min ? value : min;
    max = value > max ? value : max;
    histogram.add(value);
  }
  void merge(const Summary& other);
  void clear();  // keeps its memory

  double mean() const;  // 0 without numbers
  // As Histogram::quantile(), but never outside [min, max].
  std::int64_t quantile(double q) const;

  friend bool operator==(const Summary&, const Summary&) = default;
};

}  // namespace heatsink::stats
