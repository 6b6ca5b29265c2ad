// SPDX-License-Identifier: Apache-2.0
#include "heatsink/tui/number.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace heatsink::tui {
namespace {

// One decimal below 99.95, none above: never more than four characters below 1000.
std::string short_number(double value) {
  return value < 99.95 ? fmt::format("{:.1f}", value) : fmt::format("{:.0f}", value);
}

// Divides by `base` until the rounded rest is below `limit`; returns the number of divisions.
template <std::size_t N>
std::size_t scale(double& value, double base, double limit,
                  const std::array<std::string_view, N>&) {
  std::size_t steps = 0;
  while (value >= limit && steps + 1 < N) {
    value /= base;
    ++steps;
  }
  return steps;
}

}  // namespace

std::string count_text(double count) {
  static constexpr std::array<std::string_view, 6> kSuffixes{"", "k", "M", "G", "T", "P"};
  if (!(count >= 0) || std::isinf(count)) return "-";
  const std::size_t steps = scale(count, 1000, 999.5, kSuffixes);
  if (steps > 0) return short_number(count).append(kSuffixes[steps]);
  const bool whole = count >= 9.95 || std::abs(count - std::round(count)) < 0.05;
  return whole ? fmt::format("{:.0f}", count) : fmt::format("{:.1f}", count);
}

std::string rate_text(double per_second) {
  const std::string count = count_text(per_second);
  return count == "-" ? count : count + "/s";
}

std::string percent_text(double ratio) {
  if (!(ratio >= 0) || std::isinf(ratio)) return "-";
  const double percent = ratio * 100;
  if (percent == 0) return "0 %";
  if (percent < 0.1) return "<0.1 %";
  if (percent == 100) return "100 %";
  // 99.97 % must not appear as 100.0 %: the missing part is the remaining load.
  const double shown = percent < 100 ? std::min(percent, 99.9) : percent;
  return short_number(shown) + " %";
}

std::string signed_percent_text(double ratio) {
  return ratio < 0 ? "-" + percent_text(-ratio) : percent_text(ratio);
}

std::string signed_rate_text(double rate) {
  return rate < 0 ? "-" + rate_text(-rate) : rate_text(rate);
}

std::string age_text(Nanos age) {
  const auto seconds = std::max<std::int64_t>(0, age / std::chrono::seconds(1));
  if (seconds < 60) return fmt::format("{}s", seconds);
  if (seconds < 3600) return fmt::format("{}m{:02}s", seconds / 60, seconds % 60);
  if (seconds < 86400) return fmt::format("{}h{:02}m", seconds / 3600, seconds / 60 % 60);
  return fmt::format("{}d{:02}h", seconds / 86400, seconds / 3600 % 24);
}

std::string latency_text(Nanos latency) {
  const double micros = std::chrono::duration<double, std::micro>(latency).count();
  if (micros < 999.5) return fmt::format("{:.0f}us", std::max(micros, 0.0));
  if (micros < 9995) return fmt::format("{:.1f}ms", micros / 1e3);
  if (micros < 999.5e3) return fmt::format("{:.0f}ms", micros / 1e3);
  return fmt::format("{:.1f}s", micros / 1e6);
}

std::string size_text(Bytes size) {
  static constexpr std::array<std::string_view, 5> kSuffixes{" B", " KiB", " MiB", " GiB", " TiB"};
  auto value = static_cast<double>(size.count);
  const std::size_t steps = scale(value, 1024, 1023.5, kSuffixes);
  if (steps == 0) return fmt::format("{} B", size.count);
  return short_number(value).append(kSuffixes[steps]);
}

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
