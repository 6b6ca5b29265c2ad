// SPDX-License-Identifier: Apache-2.0
// Holds the results of a load: counts, latencies, errors by their text.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "apps/heatsink/load/latency.h"

namespace heatsink::app {

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
