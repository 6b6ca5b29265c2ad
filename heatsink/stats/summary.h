// SPDX-License-Identifier: Apache-2.0
// Holds the statistics of a set of numbers, mergeable in any order and grouping, and encodes them
// for other processes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "heatsink/base/result.h"
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

// The form for other processes: versioned, bounded, the same bytes for the same numbers. Byte 1
// (the version); count, sum, min, max; then for each bucket that is not empty its distance from the
// one before, and its count. All are varints (LEB128), signed ones zigzag. About 3 bytes per
// bucket: a thousandfold range of numbers takes 1 KB, whatever their count.
inline constexpr std::size_t kWireBytesMax = 64 + 2 * kBucketsEachSign * 13;

std::string encode(const Summary& summary);

// kProtocol: another form, or a contradiction (buckets that do not add up to the count, numbers
// outside [min, max]). Reads all of `bytes`; allocates only for the data that is there.
Result<Summary> decode(std::string_view bytes);

}  // namespace heatsink::stats
