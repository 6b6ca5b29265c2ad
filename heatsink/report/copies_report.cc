// SPDX-License-Identifier: Apache-2.0
#include "heatsink/report/copies_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>

#include "heatsink/admit/admit.h"

namespace heatsink::report {
namespace {

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
  std::vector<std::size_t> copies;
  std::vector<double> saved;
  for (const CopiesReport::Point& point : report.curve) {
    copies.push_back(point.entries);
    saved.push_back(point.saved);
  }
  const admit::SizeAdvice advice =
      admit::size_advice(copies, saved, static_cast<std::size_t>(now - report.curve.begin()));
  if (advice.what == admit::SizeAdvice::Do::kNothingPays)
    return "no number of copies pays now: "
           "their fills and ends would cost the server more than they save, or nearly as much";
  const std::string instead =
      fmt::format("{}, instead of {} with {}", saves(report.curve[advice.to]), percent(now->saved),
                  now->entries);
  if (advice.what == admit::SizeAdvice::Do::kRaise)
    return instead + ": raise cache.maximum-size, or cache.maximum-bytes if it evicts them";
  if (advice.what == admit::SizeAdvice::Do::kLower)
    return instead + ": the cache is larger than needed";
  return fmt::format("the size is right: {}, and four times as many {}", saves(*now),
                     percent(report.curve.back().saved));
}

}  // namespace heatsink::report
