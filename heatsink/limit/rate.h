// SPDX-License-Identifier: Apache-2.0
// How often: a count per time, kept as the two numbers it was given as, so that 1/3 s stays that.
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
std::string format_rate(const Rate& rate);  // reads back the same

// Why it is none: a sentence that names the bound. OK otherwise.
Status check_rate(const Rate& rate);

}  // namespace heatsink::limit
