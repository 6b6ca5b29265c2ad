// SPDX-License-Identifier: Apache-2.0
// Chooses which lasting alerts Alertmanager hears of again. Time is an argument.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "heatsink/alerts/alert_book.h"

namespace heatsink::alerts {

// Alertmanager forgets an alert that it hears nothing of for kAlertmanagerHolds (bodies.h). All
// firing alerts come round about once a minute, a few each second, the most severe first: so their
// number is not bounded by what a courier may keep. A target that is slow gets the most severe ones
// again in time. One thread. Memory: the identities of the book.
class RepeatRound {
 public:
  static constexpr Nanos kEvery = std::chrono::minutes(1);
  static constexpr Nanos kWithin = std::chrono::seconds(50);  // a round is spread over so long
  // A round that takes longer is given up for the next one.
  static constexpr Nanos kLongest = std::chrono::minutes(3);

  // Notices to send now, at most `room`. Call it about once a second.
  std::vector<Notice> next(const AlertBook& book, std::size_t room, TimePoint now);

 private:
  void begin(const AlertBook& book, TimePoint now);

  std::optional<TimePoint> began_;
  std::size_t per_second_ = 0;
  std::deque<std::string> left_;  // identities
};

}  // namespace heatsink::alerts
