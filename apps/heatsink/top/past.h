// SPDX-License-Identifier: Apache-2.0
// Makes the screens of a moment in the past from the columns of the history, and columns from the
// answers of a server that is observed.
#pragma once

#include <optional>
#include <vector>

#include "apps/heatsink/top/history.h"
#include "apps/heatsink/top/view.h"
#include "heatsink/base/clock.h"
#include "heatsink/base/wall_time.h"
#include "heatsink/heat/heat.h"

namespace heatsink::app {

// What was counted in one step of the history, as an answer. It has no verdicts and no bounds above
// its rates: these are proven minima.
struct PastMoment {
  WallTime at{};                       // the beginning of the step
  Nanos step{};                        // its length
  HotkeysView view;                    // what is not known is kUnknown
  std::vector<double> requests, hits;  // rates of the steps until then, oldest first
  KeyHistories histories{};            // the same of each key
};

// The step of `map` that `at` is in, or the next one before it, as long as that is at most
// kGapMax and a step away. `map`: TimePoints count from 1970. `now`: names the server. Nothing:
// nothing was counted then.
inline constexpr Nanos kGapMax = std::chrono::seconds(10);
std::optional<PastMoment> past_moment(const heat::HeatMap& map, WallTime at,
                                      const HotkeysView& now);

// The counts of an answer, for a history of one's own: the busiest keys of accesses, templates,
// nodes and slots.
heat::Moment moment_of(const HotkeysView& view, TimePoint at);

}  // namespace heatsink::app
