// SPDX-License-Identifier: Apache-2.0
// Remembers the hit ratio of the last hour, to notice when it falls. Time is an argument.
#pragma once

#include <optional>

#include "heatsink/base/clock.h"

namespace heatsink::alerts {

// Two means of the hit ratio that forget exponentially: one over an hour, one over half a minute.
// A plain value.
class HitRatioMemory {
 public:
  static constexpr Nanos kLongTime = std::chrono::hours(1);
  static constexpr Nanos kShortTime = std::chrono::seconds(30);
  static constexpr Nanos kLearns = std::chrono::minutes(10);  // before it judges
  static constexpr double kRatioMin = 0.1;                    // less is nothing to miss

  // A gap counts as one second at most, so that a pause of the traffic changes nothing.
  void learn(double ratio, TimePoint now);

  // Whether at least this part of the usual ratio is gone: 0.5 is half of it.
  bool has_fallen(double part) const {
    return learned_ >= kLearns && usual_ >= kRatioMin && lately_ <= usual_ * (1 - part);
  }
  double usual() const { return usual_; }
  double lately() const { return lately_; }

 private:
  std::optional<TimePoint> learned_at_;
  Nanos learned_{0};
  double usual_ = 0, lately_ = 0;
};

}  // namespace heatsink::alerts
