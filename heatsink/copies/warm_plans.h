// SPDX-License-Identifier: Apache-2.0
// Carries out the configuration's `warming:`: begins and ends the warming of keys by the clock.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "heatsink/base/result.h"
#include "heatsink/copies/pattern_search.h"
#include "heatsink/copies/warmer.h"
#include "heatsink/policy/warm_options.h"
#include "heatsink/policy/warm_window.h"
#include "heatsink/report/report.h"

namespace heatsink::copies {

// The keeper's thread. Both clocks are arguments; the wall clock may jump.
class WarmPlans {
 public:
  static constexpr Nanos kLookInterval = std::chrono::seconds(1);

  explicit WarmPlans(
      const std::deque<policy::WarmingOptions>& items);  // REQUIRES no warming_faults()

  bool none() const { return plans_.empty(); }
  // Begins and ends the searches for the keys of a pattern.
  class Searches {
   public:
    virtual void begin(const PatternSearch::Order& order, TimePoint now) = 0;
    virtual void end_source(std::uint32_t source) = 0;

   protected:
    ~Searches() = default;
  };

  // Ends the open windows: the configuration has others.
  void end_all(Warmer& warmer, Searches& searches);

  // Begins the windows that are open and ends the others. Logs a line about keys that find no room.
  void look(WallTime wall, TimePoint now, Warmer& warmer, Searches& searches);

 private:
  struct Plan {
    policy::WarmWindow window;
    std::vector<report::WarmKey> keys;
    std::optional<report::WarmPattern> pattern{};  // instead of keys
    Nanos search_again{0};
    std::optional<TimePoint> until{};  // set while the window is open
  };
  static void begin(const Plan& plan, std::uint32_t source, TimePoint now, Warmer& warmer,
                    Searches& searches);

  std::vector<Plan> plans_;
};

}  // namespace heatsink::copies
