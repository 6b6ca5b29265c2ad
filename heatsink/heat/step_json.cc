// SPDX-License-Identifier: Apache-2.0
#include "heatsink/heat/step_json.h"

#include <cmath>

namespace heatsink::heat {

boost::json::value short_number(float value) {
  if (!std::isfinite(value)) return nullptr;
  if (value == std::floor(value) || value >= 1000)
    return static_cast<std::int64_t>(std::lround(value));
  const double digits = std::pow(10.0, 3 - std::ceil(std::log10(std::abs(value))));
  return std::round(static_cast<double>(value) * digits) / digits;
}

}  // namespace heatsink::heat
