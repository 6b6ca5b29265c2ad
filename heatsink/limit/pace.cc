// SPDX-License-Identifier: Apache-2.0
#include "heatsink/limit/pace.h"

#include <cmath>

namespace heatsink::limit {
namespace {

// The largest power of two of units that last at least 2 ns each.
std::uint64_t units_each(const Rate& rate) {
  const auto per_ns = static_cast<std::uint64_t>(rate.per.count());
  std::uint64_t units = 1;
  while (rate.count * units * 4 <= per_ns) units *= 2;
  return units;
}

}  // namespace

Pace::Pace(const Rate& rate)
    : units_each_(limit::units_each(rate)),
      scale_(static_cast<std::uint64_t>((static_cast<Wide>(rate.count * units_each_) << 64U) /
                                        static_cast<Wide>(rate.per.count()))),
      ns_per_unit_(std::ldexp(1.0, 64) / static_cast<double>(scale_)) {}

Nanos Pace::time_for(std::uint64_t units) const noexcept {
  const double ns = std::ceil(static_cast<double>(units) * ns_per_unit_);
  if (ns >= std::ldexp(1.0, 62)) return Nanos::max();
  const auto whole = static_cast<std::int64_t>(ns);
  return Nanos(whole + (whole >> 50U) + 1);  // adds what rounding may have taken
}

}  // namespace heatsink::limit
