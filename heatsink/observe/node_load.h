// SPDX-License-Identifier: Apache-2.0
// Calculates a server's load from its command statistics.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>

#include "heatsink/base/clock.h"

namespace heatsink::observe {

// Calls of commands that name keys, since the server's start or its last CONFIG RESETSTAT. Commands
// that inspect a key (OBJECT, MEMORY, TYPE, PTTL) are left out, because they may be heatsink's own.
struct CallCounts {
  double reads = 0;
  double writes = 0;
};

// Parses INFO commandstats. Commands newer than Redis 7.0 are left out. O(text).
CallCounts call_counts(std::string_view commandstats);

struct NodeLoad {
  double reads_rate = 0;
  double writes_rate = 0;
  double requests_rate() const { return reads_rate + writes_rate; }
};

// Turns the counts of the last kSpan into rates. Not thread-safe.
class LoadMeter {
 public:
  static constexpr Nanos kSpan = std::chrono::seconds(5);

  void add(const CallCounts& counts, TimePoint at);
  // Nothing before the second count. When counters went backwards, starts again.
  std::optional<NodeLoad> load() const;

 private:
  struct Sample {
    CallCounts counts;
    TimePoint at{};
  };
  std::deque<Sample> samples_;
};

}  // namespace heatsink::observe
