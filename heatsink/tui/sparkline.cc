// SPDX-License-Identifier: Apache-2.0
#include "heatsink/tui/sparkline.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string_view>

namespace heatsink::tui {
namespace {

constexpr std::array<std::string_view, 8> kBars{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

std::string_view bar(double value, double top) {
  if (!(value > 0) || !(top > 0)) return kBars.front();
  const double height = std::min(value / top, 1.0) * static_cast<double>(kBars.size() - 1);
  return kBars[static_cast<std::size_t>(std::lround(height))];
}

}  // namespace

std::string sparkline(std::span<const double> values, double top, int width) {
  const auto room = static_cast<std::size_t>(std::max(width, 0));
  if (values.size() > room) values = values.last(room);
  std::string out(room - values.size(), ' ');
  for (const double value : values) out += bar(value, top);
  return out;
}

}  // namespace heatsink::tui
