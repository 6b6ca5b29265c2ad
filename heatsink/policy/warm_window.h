// SPDX-License-Identifier: Apache-2.0
// Computes when a daily window is open: a time of day, on some days, in a time zone.
#pragma once

#include <bitset>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "heatsink/base/result.h"
#include "heatsink/base/wall_time.h"

namespace heatsink::policy {

// A time zone: "UTC", a fixed offset ("+02:00"), or "local". Local is the process's own zone (the
// environment's TZ, else /etc/localtime), with daylight saving time.
class Zone {
 public:
  static Result<Zone> parse(std::string_view text);
  // Local time minus UTC at that moment. Thread-safe as long as the process does not change TZ.
  std::chrono::seconds offset_at(WallTime at) const;

 private:
  std::optional<std::chrono::seconds> fixed_;  // unset: the process's own zone
};

// From one time of day up to, not including, another. If the end is not later than the start, the
// window ends on the next day, and `days` are the days of its start. A local time that the clocks
// skip is skipped; one that they show twice is open twice.
class WarmWindow {
 public:
  struct Text {
    std::string from, until;  // "19:55", "20:30:15"
    std::string days;         // "", or "mon,tue" or "mon-fri"
    std::string zone;
  };
  // An error names the faulty member: "from is '25:00': ...".
  static Result<WarmWindow> parse(const Text& text);

  // The end of the window that is open at `now`; nullopt: it is closed.
  std::optional<WallTime> open_until(WallTime now) const;

 private:
  std::chrono::seconds from_{0}, until_{0};  // since midnight
  std::bitset<7> days_;                      // 0: Sunday
  Zone zone_;
};

// The next moment after `now` at which the local clocks show this time of day.
Result<WallTime> next_time_of_day(const std::string& text, WallTime now);

}  // namespace heatsink::policy
