// SPDX-License-Identifier: Apache-2.0
// Decides when the keeper judges the keys: soon after it is asked to, but not all the time.
#pragma once

#include <algorithm>

#include "heatsink/base/clock.h"

namespace heatsink::copies {

// With thousands of keys from each worker it takes tens of milliseconds, and detection.tick may be
// 10 ms: fills and barriers need the keeper, too. So judging takes at most half of its time, but is
// not put off for longer than kPauseMax.
//
// One thread; no clock. Calls: `ask() is_asked() (begin() end() once from() has come)`.
class JudgePace {
 public:
  static constexpr Nanos kPauseMax = Millis(200);

  void ask() { is_asked_ = true; }
  bool is_asked() const { return is_asked_; }
  TimePoint from() const { return from_; }  // not before this
  void begin(TimePoint now) {
    is_asked_ = false;
    began_ = now;
  }
  void end(TimePoint now) { from_ = now + std::min(now - began_, kPauseMax); }

 private:
  bool is_asked_ = false;
  TimePoint began_{}, from_{};
};

}  // namespace heatsink::copies
