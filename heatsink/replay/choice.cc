// SPDX-License-Identifier: Apache-2.0
#include "heatsink/replay/choice.h"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <tuple>

namespace heatsink::replay {
namespace {

// the usual window is preferred to a better one if it comes this close
constexpr double kNearlyEqual = 0.98;
constexpr Nanos kUsualWindow = std::chrono::seconds(10);

// The accesses that make a key hot.
double accesses(const Setting& setting) {
  return setting.hot_qps * std::chrono::duration<double>(setting.window).count();
}

auto cost_of(const Capacity& capacity) {
  return std::tuple(capacity.entries_max, capacity.bytes_max.count);
}

// The good settings of the smallest capacity that has any.
std::vector<Candidate> good_ones(const std::vector<Saving>& savings, double enough) {
  std::vector<Candidate> good;
  for (const Saving& saving : savings) {
    if (saving.requests_ratio < enough) continue;
    const Capacity& capacity = saving.setting.capacity;
    if (!good.empty() && is_smaller(capacity, good[0].saving.setting.capacity)) good.clear();
    if (good.empty() || capacity == good[0].saving.setting.capacity) good.push_back({saving});
  }
  return good;
}

template <class T>
void add_once(std::vector<T>& values, const T& value) {
  if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
}

void slow_down(std::vector<Candidate>& good, const Simulate& simulate) {
  SavingsGrid grid;
  grid.capacities = {good[0].saving.setting.capacity};
  for (const Candidate& candidate : good) {
    add_once(grid.windows, candidate.saving.setting.window);
    add_once(grid.hot_qps, candidate.saving.setting.hot_qps / kSlowdown);
  }
  std::sort(grid.hot_qps.begin(), grid.hot_qps.end());
  for (const Saving& slower : simulate(grid)) {
    for (Candidate& candidate : good) {
      const Setting& setting = candidate.saving.setting;
      if (setting.window == slower.setting.window &&
          setting.hot_qps / kSlowdown == slower.setting.hot_qps)
        candidate.slower_ratio = slower.requests_ratio;
    }
  }
}

const Candidate& best_window(const std::vector<Candidate>& good) {
  const auto best = std::max_element(good.begin(), good.end(), [](const auto& a, const auto& b) {
    return a.saving.requests_ratio < b.saving.requests_ratio;
  });
  const auto usual = std::find_if(good.begin(), good.end(), [](const Candidate& candidate) {
    return candidate.saving.setting.window == kUsualWindow;
  });
  const bool is_near = usual != good.end() &&
                       usual->saving.requests_ratio >= best->saving.requests_ratio * kNearlyEqual;
  return is_near ? *usual : *best;
}

const Candidate& highest_threshold(std::vector<Candidate>& steady) {
  double highest = 0;
  for (const Candidate& candidate : steady)
    highest = std::max(highest, candidate.saving.setting.hot_qps);
  std::erase_if(steady, [highest](const Candidate& candidate) {
    return candidate.saving.setting.hot_qps != highest;
  });
  return best_window(steady);
}

}  // namespace

bool has_evidence(const Setting& setting) { return accesses(setting) >= kLeastEvidence; }

double burst_part(const Setting& setting) {
  const double usual = detect::SelectorOptions{}.burst;
  return usual * accesses(setting) >= kLeastEvidence ? usual : 0;
}

bool is_smaller(const Capacity& a, const Capacity& b) { return cost_of(a) < cost_of(b); }

Choice choose(const std::vector<Saving>& savings, const Simulate& simulate) {
  assert(!savings.empty());
  Choice out;
  out.best = *std::max_element(savings.begin(), savings.end(), [](const auto& a, const auto& b) {
    return a.requests_ratio < b.requests_ratio;
  });
  out.candidates = good_ones(savings, out.best.requests_ratio * kGoodEnough);
  slow_down(out.candidates, simulate);
  std::vector<Candidate> steady = out.candidates;
  std::erase_if(steady, [&out](const Candidate& candidate) {
    return candidate.slower_ratio < out.best.requests_ratio * kGoodWhenSlower;
  });
  out.is_steady = !steady.empty();
  out.chosen = out.is_steady ? highest_threshold(steady)
                             : *std::max_element(out.candidates.begin(), out.candidates.end(),
                                                 [](const auto& a, const auto& b) {
                                                   return a.slower_ratio < b.slower_ratio;
                                                 });
  return out;
}

}  // namespace heatsink::replay
