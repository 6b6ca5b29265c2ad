// SPDX-License-Identifier: Apache-2.0
#include "heatsink/base/wall_time.h"

#include <time.h>

#include <array>
#include <cstdio>

#include "heatsink/base/clock.h"

namespace heatsink {

std::string iso_time(WallTime time) {
  const auto since_epoch = std::chrono::floor<Millis>(time.time_since_epoch());
  const auto whole = std::chrono::floor<std::chrono::seconds>(since_epoch);
  const time_t calendar = whole.count();
  tm utc{};
  gmtime_r(&calendar, &utc);
  std::array<char, 64> text{};
  const std::size_t length = strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &utc);
  const int millis = static_cast<int>((since_epoch - whole).count());
  std::snprintf(text.data() + length, text.size() - length, ".%03dZ", millis);
  return text.data();
}

}  // namespace heatsink
