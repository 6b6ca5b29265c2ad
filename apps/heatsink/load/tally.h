// SPDX-License-Identifier: Apache-2.0
// Holds the results of a load: counts, latencies, errors by their text.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>

#include "heatsink/base/clock.h"
#include "heatsink/stats/histogram.h"

namespace heatsink::app {

// Counts latencies in fixed memory, in steps of about 3 %. Uses the buckets of stats, so a quantile
// is at most 1/32 too high. Not a stats::Histogram: that one reports the middle of a bucket, and
// allocates. A load must not report clients' waits too low, nor wait for memory itself. Mergeable,
// 15 KiB, no allocation, O(1) per latency. Not thread-safe.
class LatencyRecorder {
 public:
  void add(Nanos latency);  // a negative one counts as 0
  void merge(const LatencyRecorder& other);

  std::uint64_t count() const { return count_; }
  Nanos max() const { return max_; }
  // The end of the smallest bucket that at least `share` (0 .. 1) of the latencies do not exceed,
  // but at most max(); 0 without latencies.
  Nanos quantile(double share) const;

 private:
  std::array<std::uint64_t, stats::kBucketsEachSign> counts_{};
  std::uint64_t count_ = 0;
  Nanos max_{0};
};

// A plain value, mergeable. Not thread-safe.
struct Tally {
  static constexpr std::size_t kErrorTextsMax = 32;  // further texts share one count

  std::uint64_t reads = 0;
  std::uint64_t writes = 0;
  std::uint64_t nils = 0;      // reads of a missing key
  std::uint64_t given_up = 0;  // due by the rate, but not sent in time
  LatencyRecorder latency;     // of reads and writes that succeeded
  std::map<std::string, std::uint64_t> errors;

  std::uint64_t operations() const { return reads + writes; }
  std::uint64_t error_count() const;
  void add_error(const std::string& text, std::uint64_t count = 1);
  void merge(const Tally& other);
};

}  // namespace heatsink::app
