// SPDX-License-Identifier: Apache-2.0
#include "heatsink/fleet/changes.h"

#include <algorithm>
#include <utility>

#include "heatsink/fleet/bounds.h"

namespace heatsink::fleet {
namespace {

using detect::KeyCount;
using detect::Measure;
using detect::Summary;

// Of the threshold of `hot-qps: auto`: 1 % of the traffic, and a quarter of that begins a burst.
constexpr double kPartWithoutRules = 0.01 * 0.25;
constexpr double kDeviations = 3;

bool is_beyond(std::uint64_t more, std::uint64_t less, std::uint64_t slack) {
  if (more <= less || more - less < slack) return false;
  const auto gain = static_cast<double>(more - less);
  // The variance of a count of random accesses is the count.
  return gain * gain >= kDeviations * kDeviations * static_cast<double>(more + less);
}

}  // namespace

Changes::Changes(Matters matters) : matters_(std::move(matters)) {}

void Changes::reported(const Message& report) {
  reported_.clear();
  for (const Summary& window : report.windows) {
    Reported& kept = reported_.emplace_back();
    kept.measure = window.measure();
    kept.counts.reserve(window.keys.size());
    for (const KeyCount& key : window.keys) kept.counts.emplace(key.hash.value, key.low);
  }
}

bool Changes::matter(std::span<const Summary> windows, const Message* list) const {
  const std::uint64_t instances = list == nullptr ? 1 : std::max<std::uint64_t>(list->instances, 1);
  return std::any_of(windows.begin(), windows.end(), [&](const Summary& window) {
    const Summary* const listed = list != nullptr ? list->window_of(window.measure()) : nullptr;
    return window.window > Nanos{} && matter(window, listed, instances);
  });
}

bool Changes::matter(const Summary& window, const Summary* listed, std::uint64_t instances) const {
  const Measure measure = window.measure();
  const auto known = std::find_if(reported_.begin(), reported_.end(),
                                  [&](const Reported& each) { return each.measure == measure; });
  if (known == reported_.end()) return true;  // the first counts of this window
  const auto before = [&](std::uint64_t hash) -> std::uint64_t {
    const auto found = known->counts.find(hash);
    return found == known->counts.end() ? 0 : found->second;
  };
  const std::uint64_t mean = listed == nullptr ? window.total() : listed->total() / instances;
  const detect::CountLevel level =
      matters_ ? matters_(measure, instances) : detect::CountLevel{1, kPartWithoutRules};
  const std::uint64_t least = std::max<std::uint64_t>(level.of(mean), 1);
  std::unordered_map<std::uint64_t, std::uint64_t> slack_of;  // of keys of the list
  if (listed != nullptr) {
    for (const KeyCount& key : listed->keys)
      slack_of.emplace(key.hash.value, std::max(least, key.low / instances / 4));
  }
  std::size_t busy = 0;
  for (const KeyCount& key : window.keys) {
    const auto in_list = slack_of.find(key.hash.value);
    const bool is_listed = in_list != slack_of.end();
    if (key.key_truncated || (!is_listed && busy++ >= kReportKeys)) continue;
    const std::uint64_t last = before(key.hash.value);
    const std::uint64_t slack = is_listed ? in_list->second : least;
    if (is_beyond(key.low, last, slack) || (is_listed && is_beyond(last, key.high, slack)))
      return true;
    if (is_listed) slack_of.erase(in_list);
  }
  return std::any_of(slack_of.begin(), slack_of.end(), [&](const auto& gone) {
    return is_beyond(before(gone.first), window.absent_max, gone.second);
  });
}

}  // namespace heatsink::fleet
