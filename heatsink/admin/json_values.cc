// SPDX-License-Identifier: Apache-2.0
#include "heatsink/admin/json_values.h"

#include <time.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>

#include "heatsink/admin/base64.h"
#include "heatsink/base/printable.h"
#include "heatsink/detect/summary.h"

namespace heatsink::admin {

boost::json::value number(double value) {
  if (!std::isfinite(value)) return nullptr;
  if (std::abs(value) < 1e15 && value == std::floor(value)) return static_cast<std::int64_t>(value);
  return value;
}

boost::json::value seconds(Nanos duration) {
  return number(std::chrono::duration<double>(duration).count());
}

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

void add_name(boost::json::object& out, const std::string& name, bool truncated) {
  out["name"] = printable(name, detect::kKeyBytesMax);
  out["name_base64"] = base64(name);
  out["name_truncated"] = truncated;
}

}  // namespace heatsink::admin
