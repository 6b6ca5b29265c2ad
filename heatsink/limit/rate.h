// SPDX-License-Identifier: Apache-2.0
// Defines a rate: a count per time. It keeps both numbers as given, so 1/3s stays exact.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "heatsink/base/clock.h"
#include "heatsink/base/result.h"

namespace heatsink::limit {

struct Rate {
  std::uint64_t count = 0;
  Nanos per = std::chrono::seconds(1);

  double per_second() const;
  friend bool operator==(const Rate&, const Rate&) = default;
};

inline constexpr std::uint64_t kPerSecondMax = 100'000'000;
inline constexpr Nanos kPerMin = Millis(1);
inline constexpr Nanos kPerMax = std::chrono::hours(24);

// "5000/s", "100/10s", "1/h": at least 1 per day, at most kPerSecondMax.
Result<Rate> parse_rate(std::string_view text);
std::string format_rate(const Rate& rate);  // parse_rate() gives the same rate back

// OK, or an error that names the bound that the rate breaks.
Status check_rate(const Rate& rate);

}  // namespace heatsink::limit
