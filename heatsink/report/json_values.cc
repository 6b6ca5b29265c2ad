// SPDX-License-Identifier: Apache-2.0
#include "heatsink/report/json_values.h"

#include <cmath>
#include <cstdint>

#include "heatsink/base/base64.h"
#include "heatsink/base/printable.h"
#include "heatsink/detect/summary.h"

namespace heatsink::report {

boost::json::value number(double value) {
  if (!std::isfinite(value)) return nullptr;
  if (std::abs(value) < 1e15 && value == std::floor(value)) return static_cast<std::int64_t>(value);
  return value;
}

boost::json::value seconds(Nanos duration) {
  return number(std::chrono::duration<double>(duration).count());
}

void add_name(boost::json::object& out, const std::string& name, bool truncated) {
  out["name"] = printable(name, detect::kKeyBytesMax);
  out["name_base64"] = base64(name);
  out["name_truncated"] = truncated;
}

}  // namespace heatsink::report
