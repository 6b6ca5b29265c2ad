// SPDX-License-Identifier: Apache-2.0
// A time of day, on some days, in some zone: when keys are to be warm.
#pragma once

#include <bitset>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "heatsink/base/result.h"
#include "heatsink/base/wall_time.h"

namespace heatsink::policy {

// What a wall clock shows beside UTC: "UTC", a fixed offset ("+02:00"), or "local", which is the
// process's own zone (the environment's TZ, else /etc/localtime) with its changes of clock.
class Zone {
 public:
  static Result<Zone> parse(std::string_view text);
  // Local time minus UTC at that moment. Thread-safe as long as nobody changes TZ.
  std::chrono::seconds offset_at(WallTime at) const;

 private:
  std::optional<std::chrono::seconds> fixed_;  // none: the process's
};

// From one time of day up to another, without it; past midnight if that is not later, and then the
// day is that on which it begins. What the clocks of a zone skip is skipped, and what they show
// twice is there twice.
class WarmWindow {
 public:
  struct Text {
    std::string from, until;  // "19:55", "20:30:15"
    std::string days;         // "", or "mon,tue" or "mon-fri"
    std::string zone;
  };
  // An error names the member: "from is '25:00': ...".
  static Result<WarmWindow> parse(const Text& text);

  // When it ends, if it is open then.
  std::optional<WallTime> open_until(WallTime now) const;

 private:
  std::chrono::seconds from_{0}, until_{0};  // since midnight
  std::bitset<7> days_;                      // 0: Sunday
  Zone zone_;
};

// When the local clocks show this time of day next, after `now`.
Result<WallTime> next_time_of_day(const std::string& text, WallTime now);

}  // namespace heatsink::policy
