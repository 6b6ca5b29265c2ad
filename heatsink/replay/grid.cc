// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>

#include "heatsink/replay/choice.h"
#include "heatsink/replay/savings.h"

namespace heatsink::replay {
namespace {

using std::chrono::seconds;

constexpr std::array<Nanos, 3> kWindows{seconds(2), seconds(10), seconds(60)};
constexpr Nanos kShortWindow = seconds(1);    // for a trace that is too short for the others
constexpr std::int64_t kWindowsPerTrace = 3;  // a shorter trace says little about a window
constexpr std::array<std::size_t, 6> kEntries{10, 30, 100, 300, 1000, 4096};
constexpr double kLeastShare = 0.0001;
constexpr std::size_t kThresholdsMin = 2;
constexpr std::size_t kThresholdsMax = 9;

// Rounds down to 1, 2 or 5 times a power of ten, for x from 1 on.
double round_down(double x) {
  const double power = std::pow(10.0, std::floor(std::log10(x)));
  for (const double step : {5.0, 2.0}) {
    if (x >= step * power) return step * power;
  }
  return power;
}

double next_step(double x) {
  const double power = std::pow(10.0, std::floor(std::log10(x) + 1e-9));
  const double digit = std::round(x / power);
  return power * (digit < 2 ? 2 : digit < 5 ? 5 : 10);
}

double rate_of(const Trace& trace, double accesses) {
  const double duration_s = std::chrono::duration<double>(trace.duration()).count();
  return accesses / std::max(duration_s, 1e-3);
}

double busiest_rate(const Trace& trace) {
  std::vector<std::uint32_t> counts(trace.keys.size());
  for (const TraceAccess& access : trace.accesses) ++counts[access.key];
  return rate_of(trace, *std::max_element(counts.begin(), counts.end()));
}

}  // namespace

std::vector<Nanos> windows_for(const Trace& trace) {
  std::vector<Nanos> windows;
  for (const Nanos window : kWindows) {
    if (trace.duration() >= kWindowsPerTrace * window) windows.push_back(window);
  }
  if (windows.empty()) windows.push_back(kShortWindow);
  return windows;
}

SavingsGrid grid_for(const Trace& trace) {
  SavingsGrid grid;
  grid.windows = windows_for(trace);
  const double rate = rate_of(trace, trace.requests());
  const Nanos middle = grid.windows[grid.windows.size() / 2];
  const double middle_s = std::chrono::duration<double>(middle).count();
  double hot_qps = round_down(std::max({rate * kLeastShare, busiest_rate(trace) / 500, 1.0}));
  while (hot_qps * middle_s < kLeastEvidence) hot_qps = next_step(hot_qps);
  const double highest = 2 * busiest_rate(trace);  // above the mean rate, for bursts
  while (grid.hot_qps.size() < kThresholdsMin ||
         (hot_qps <= highest && grid.hot_qps.size() < kThresholdsMax)) {
    grid.hot_qps.push_back(hot_qps);
    hot_qps = next_step(hot_qps);
  }
  for (const std::size_t entries : kEntries) grid.capacities.push_back({entries, kNoByteLimit});
  return grid;
}

}  // namespace heatsink::replay
