// SPDX-License-Identifier: Apache-2.0
#include "heatsink/heat/scale.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace heatsink::heat {
namespace {

std::array<double, 256> make_rates() {
  std::array<double, 256> rates{};
  for (std::size_t code = 1; code < rates.size(); ++code)
    rates[code] = std::exp2(static_cast<double>(code - 1) / kCodesPerDoubling);
  return rates;
}

}  // namespace

RateCode code_of(double rate) {
  if (!(rate > 0)) return 0;
  if (rate <= 1) return 1;
  const double code = 1 + std::round(std::log2(rate) * kCodesPerDoubling);
  return static_cast<RateCode>(std::min(code, 255.0));
}

double rate_of(RateCode code) {
  static const std::array<double, 256> rates = make_rates();
  return rates[code];
}

}  // namespace heatsink::heat
