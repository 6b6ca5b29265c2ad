// SPDX-License-Identifier: Apache-2.0
// Remembers how long each key has had its temperature, for sources that judge each report anew.
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
  // Sets `since` of each verdict: the first of the consecutive reports in which the key had this
  // temperature.
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
