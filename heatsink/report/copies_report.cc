// SPDX-License-Identifier: Apache-2.0
#include "heatsink/report/copies_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace heatsink::report {
namespace {

// A larger cache is worth its memory if it saves so much more of the reads; a smaller one is as
// good if it saves nearly the same.
constexpr double kWorthMore = 0.02;
constexpr double kAsGood = 0.95;

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

std::string saves(const CopiesReport::Point& point) {
  return fmt::format("{} copies would save the server {} of the reads", point.entries,
                     percent(point.saved));
}

}  // namespace

std::optional<double> server_cpu(const CopiesReport& report, const CopiesReport::Copy& copy) {
  if (!report.read_cpu) return std::nullopt;
  return copy.saved * std::chrono::duration<double>(*report.read_cpu).count();
}

std::string budget_advice(const CopiesReport& report) {
  const auto now = std::find_if(
      report.curve.begin(), report.curve.end(),
      [&](const CopiesReport::Point& point) { return point.entries >= report.entries_max; });
  if (report.curve.empty()) return "";
  if (now == report.curve.end())
    return "the cache has room for more copies than the traffic so far could use";
  const std::string today = fmt::format("instead of {} with {}", percent(now->saved), now->entries);
  const auto best = std::max_element(
      now, report.curve.end(), [](const auto& a, const auto& b) { return a.saved < b.saved; });
  if (!report.choice && best->saved < kWorthMore)
    return "no number of copies pays now: their fills and ends would cost the server more than "
           "they save";
  if (best->saved >= now->saved + kWorthMore)
    return fmt::format("{}, {}: raise cache.maximum-size, or cache.maximum-bytes if it evicts them",
                       saves(*best), today);
  const auto least = std::find_if(report.curve.begin(), now, [&](const CopiesReport::Point& point) {
    return now->saved > 0 && point.saved >= now->saved * kAsGood;
  });
  if (least != now)
    return fmt::format("{}, {}: the cache is larger than needed", saves(*least), today);
  return fmt::format("the size is right: {}, and four times as many {}", saves(*now),
                     percent(report.curve.back().saved));
}

}  // namespace heatsink::report
