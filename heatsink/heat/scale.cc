// SPDX-License-Identifier: Apache-2.0
#include "heatsink/heat/scale.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace heatsink::heat {
namespace {

template <int kPerDoubling>
RateCode code_on(double figure) {
  if (!(figure > 0)) return 0;
  if (figure <= 1) return 1;
  const double code = 1 + std::round(std::log2(figure) * kPerDoubling);
  return static_cast<RateCode>(std::min(code, 255.0));
}

template <int kPerDoubling>
double figure_on(RateCode code) {
  static const std::array<double, 256> figures = [] {
    std::array<double, 256> out{};
    for (std::size_t i = 1; i < out.size(); ++i)
      out[i] = std::exp2(static_cast<double>(i - 1) / kPerDoubling);
    return out;
  }();
  return figures[code];
}

}  // namespace

RateCode code_of(double rate) { return code_on<kCodesPerDoubling>(rate); }
double rate_of(RateCode code) { return figure_on<kCodesPerDoubling>(code); }
RateCode bytes_code(double bytes_per_second) {
  return code_on<kBytesCodesPerDoubling>(bytes_per_second);
}
double bytes_of(RateCode code) { return figure_on<kBytesCodesPerDoubling>(code); }

}  // namespace heatsink::heat
