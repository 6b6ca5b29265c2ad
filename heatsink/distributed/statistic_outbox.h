// SPDX-License-Identifier: Apache-2.0
// Keeps the numbers of window statistics that are not delivered yet, and ensures that none counts
// twice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/stats/stats.h"

namespace heatsink::distributed {

// Not thread-safe; time is an argument. For each series it keeps a sum of new numbers, and at most
// one part in flight. A part has a number and the same bytes at each attempt, so that the server
// recognises it. Memory: two stats::Summary per series, however long the server is away. Call
// order:
//
//   ((add | due) ((delivered | failed) of what was due)*)*
class StatisticOutbox {
 public:
  // Drops numbers that could not be delivered for `hold`: they would be counted in a wrong slot.
  explicit StatisticOutbox(Nanos hold) : hold_(hold) {}

  void add(std::uint32_t series, const stats::Summary& numbers, TimePoint now);

  struct Part {
    std::uint32_t series = 0;
    std::uint64_t sequence = 0;  // rises from 1 within a series
    std::string bytes;           // encode_part()
  };
  // The parts to send now: one of each series, none while one is in flight.
  std::vector<Part> due(TimePoint now);

  // The server has counted the part, now or earlier.
  void delivered(std::uint32_t series, std::uint64_t sequence);
  // The part is due again. `may_be_counted`: unknown; false: the server has said that it was not
  // counted.
  void failed(std::uint32_t series, std::uint64_t sequence, bool may_be_counted);

  // No number waits, and no part is in flight.
  bool is_empty() const;

  // Numbers since construction.
  struct Counts {
    std::uint64_t delivered = 0;
    std::uint64_t dropped = 0;    // of these the server has none
    std::uint64_t uncertain = 0;  // sent, not answered, given up: the server may have them
    std::uint64_t resent = 0;     // parts
  };
  const Counts& counts() const { return counts_; }

 private:
  struct Series {
    stats::Summary fresh;
    TimePoint fresh_since{};

    std::uint64_t sequence = 0;  // of the last part
    std::string part;            // "": none
    std::uint64_t part_count = 0;
    TimePoint part_since{};
    bool is_on_its_way = false;
    bool was_sent = false;
    bool may_be_counted = false;
  };

  void drop_old(Series& series, TimePoint now);
  void freeze(Series& series);
  void clear_part(Series& series);

  const Nanos hold_;
  std::vector<Series> all_;  // by series
  Counts counts_;
};

}  // namespace heatsink::distributed
