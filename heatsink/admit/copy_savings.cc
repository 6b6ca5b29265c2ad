// SPDX-License-Identifier: Apache-2.0
#include "heatsink/admit/copy_savings.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <utility>

namespace heatsink::admit {
namespace {

constexpr double kSureness = 2;       // standard deviations
constexpr double kForgotten = 0.1;    // hits: a single one is remembered for 23 s
constexpr double kSecondsMin = 0.25;  // a shorter time gives no rate

double in_seconds(Nanos duration) { return std::chrono::duration<double>(duration).count(); }

}  // namespace

void CopySavings::hit(std::span<const SampledHit> hits) {
  for (const SampledHit& each : hits) {
    if (sums_.size() >= kKeysMax && !sums_.contains(each.key)) forget_half();
    Sums& sums = sums_[each.key];
    const double weight = each.hits;
    sums.hits += weight;
    // The unbiased estimate for independent picks with the probability 1 / weight (Horvitz and
    // Thompson, 1952).
    sums.variance += weight * (weight - 1);
  }
}

void CopySavings::filled(KeyHash key) {
  if (const auto at = sums_.find(key); at != sums_.end()) at->second.fills += 1;
}

void CopySavings::ended(KeyHash key) {
  if (const auto at = sums_.find(key); at != sums_.end()) at->second.ends += 1;
}

void CopySavings::tick(TimePoint now) {
  const double passed = in_seconds(std::max(now - at_, Nanos(0)));
  const double kept = std::exp(-passed / in_seconds(kSpan));
  at_ = std::max(at_, now);
  seconds_ = (seconds_ + passed) * kept;
  for (auto each = sums_.begin(); each != sums_.end();) {
    Sums& sums = each->second;
    sums.hits *= kept;
    sums.variance *= kept * kept;
    sums.fills *= kept;
    sums.ends *= kept;
    each = sums.hits < kForgotten ? sums_.erase(each) : std::next(each);
  }
}

// A key with many hits is in the better half. So only keys that were about to be forgotten in any
// case lose their count.
void CopySavings::forget_half() {
  std::vector<std::pair<double, std::uint64_t>> order;
  order.reserve(sums_.size());
  for (const auto& [key, sums] : sums_) order.emplace_back(sums.hits, key.value);
  const auto middle = order.begin() + static_cast<std::ptrdiff_t>(order.size() / 2);
  std::nth_element(order.begin(), middle, order.end());
  for (auto at = order.begin(); at != middle; ++at) sums_.erase(KeyHash{at->second});
}

CopySaving CopySavings::rates(KeyHash key, const Sums& sums, double seconds, const Costs& costs) {
  return {.key = key,
          .hits = sums.hits / seconds,
          .hits_error = kSureness * std::sqrt(sums.variance) / seconds,
          .fills = sums.fills / seconds,
          .ends = sums.ends / seconds,
          .saved = (sums.hits - sums.fills * costs.fill - sums.ends * costs.end) / seconds};
}

std::vector<CopySaving> CopySavings::top(std::size_t count, const Costs& costs, TimePoint now,
                                         const std::function<bool(KeyHash)>& is_listed) const {
  const double seconds =
      std::max(seconds_ + in_seconds(std::max(now - at_, Nanos(0))), kSecondsMin);
  std::vector<CopySaving> all;
  all.reserve(sums_.size());
  for (const auto& [key, sums] : sums_) {
    all.push_back(rates(key, sums, seconds, costs));
    if (!(all.back().saved > 0)) all.pop_back();
  }
  const auto is_worse = [](const CopySaving& a, const CopySaving& b) {
    return a.saved != b.saved ? a.saved < b.saved : a.key.value > b.key.value;
  };
  std::make_heap(all.begin(), all.end(), is_worse);
  std::vector<CopySaving> best;
  for (auto end = all.end(); end != all.begin() && best.size() < count; --end) {
    std::pop_heap(all.begin(), end, is_worse);
    if (is_listed((end - 1)->key)) best.push_back(*(end - 1));
  }
  return best;
}

}  // namespace heatsink::admit
