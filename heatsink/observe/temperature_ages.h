// SPDX-License-Identifier: Apache-2.0
// Remembers since when a key has been as hot as it is, for sources that judge anew each time.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "heatsink/report/node_report.h"

namespace heatsink::observe {

// Remembers the keys of the last report. Not thread-safe.
class TemperatureAges {
 public:
  // Sets `since` of each verdict: when the key was first seen with that temperature, of those
  // reports one after another that had it with it.
  void tell(report::Report& report, TimePoint now);

 private:
  struct Seen {
    detect::Temperature temperature{};
    TimePoint since{};
  };
  using Key = std::pair<std::uint32_t, std::string>;  // database, name
  std::map<Key, Seen> seen_;
};

}  // namespace heatsink::observe
