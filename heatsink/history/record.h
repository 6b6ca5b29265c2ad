// SPDX-License-Identifier: Apache-2.0
// Defines what is written to the history: the counts of a second, and events.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <variant>

#include "heatsink/base/wall_time.h"
#include "heatsink/heat/moment.h"
#include "heatsink/report/event.h"

namespace heatsink::history {

// Whole seconds since 1970.
inline std::int64_t unix_seconds(WallTime time) {
  return std::chrono::floor<std::chrono::seconds>(time.time_since_epoch()).count();
}

// What was counted in the second that ends at `end`, by the time of day.
struct Second {
  WallTime end{};
  heat::Moment moment;
};

// An event as it is kept: texts may be shown as they are.
struct KeptEvent {
  WallTime at{};
  std::string what{};  // as "verdict" in /api/events: "hot", "nothing-hot", "config-changed"
  bool has_key = false;
  std::string name{};  // printable(); "...": the name was cut
  std::uint32_t db = 0;
  std::string before{}, rule{};  // "": not of a verdict
  double rate = 0, share = 0;
  std::string reason{};
};
KeptEvent kept(const report::Event& event, WallTime at);

using Record = std::variant<Second, KeptEvent>;

}  // namespace heatsink::history
