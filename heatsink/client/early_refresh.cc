// SPDX-License-Identifier: Apache-2.0
#include "heatsink/client/early_refresh.h"

#include <algorithm>
#include <cmath>

namespace heatsink::client {

TimePoint early_refresh_at(TimePoint expires_at, TimePoint earliest, Nanos load_took, double factor,
                           double random) {
  if (factor == 0) return TimePoint::max();
  // An exponential draw, scaled by the duration of the load.
  const double early = -std::log(1 - random) * factor * static_cast<double>(load_took.count());
  const auto most = static_cast<double>((expires_at - earliest).count());
  return expires_at - Nanos(static_cast<std::int64_t>(std::clamp(early, 0.0, std::max(most, 0.0))));
}

}  // namespace heatsink::client
