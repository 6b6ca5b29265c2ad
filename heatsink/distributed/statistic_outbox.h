// SPDX-License-Identifier: Apache-2.0
// What a writer of window statistics has not delivered yet, and how nothing is counted twice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/stats/stats.h"

namespace heatsink::distributed {

// Not thread-safe; time is an argument. For each series a sum of what is new, and at most one part
// that is on its way: numbered, and the same bytes whenever it is sent again, so that the server
// knows it again. Memory: two stats::Summary for a series, however long the server is away.
//
//   ((add | due) ((delivered | failed) of what was due)*)*
class StatisticOutbox {
 public:
  // Numbers that could not be delivered for so long are dropped: they would be counted in a slot
  // that they do not belong to.
  explicit StatisticOutbox(Nanos hold) : hold_(hold) {}

  void add(std::uint32_t series, const stats::Summary& numbers, TimePoint now);

  struct Part {
    std::uint32_t series = 0;
    std::uint64_t sequence = 0;  // rises from 1 within a series
    std::string bytes;           // encode_part()
  };
  // What is to be sent now: of each series one part, none while one is on its way.
  std::vector<Part> due(TimePoint now);

  // The server has counted it, now or before.
  void delivered(std::uint32_t series, std::uint64_t sequence);
  // It is due again. `may_be_counted`: nobody knows; else the server said that it was not.
  void failed(std::uint32_t series, std::uint64_t sequence, bool may_be_counted);

  // Nothing waits and nothing is on its way.
  bool is_empty() const;

  // Numbers, since it was made.
  struct Counts {
    std::uint64_t delivered = 0;
    std::uint64_t dropped = 0;    // of these nobody has heard
    std::uint64_t uncertain = 0;  // sent, never answered, and given up: counted, or not
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
