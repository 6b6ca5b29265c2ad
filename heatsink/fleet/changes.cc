// SPDX-License-Identifier: Apache-2.0
#include "heatsink/fleet/changes.h"

#include <algorithm>
#include <array>
#include <utility>

#include "heatsink/fleet/bounds.h"

namespace heatsink::fleet {
namespace {

using detect::KeyCount;
using detect::Measure;
using detect::Summary;

// The threshold of `hot-qps: auto` is 1 % of the traffic, and a quarter of that begins a burst.
constexpr double kPartWithoutRules = 0.01 * 0.25;
constexpr double kDeviations = 3;

bool is_beyond(std::uint64_t more, std::uint64_t less, std::uint64_t slack) {
  if (more <= less || more - less < slack) return false;
  const auto gain = static_cast<double>(more - less);
  // The variance of a count of random accesses is the count.
  return gain * gain >= kDeviations * kDeviations * static_cast<double>(more + less);
}

template <class Counts>
std::size_t place_of(const Counts& counts, std::uint64_t hash) {
  const auto found =
      std::lower_bound(counts.begin(), counts.end(), hash,
                       [](const auto& each, auto wanted) { return each.first < wanted; });
  return found == counts.end() || found->first != hash
             ? counts.size()
             : static_cast<std::size_t>(found - counts.begin());
}

template <class Windows>
auto of_measure(const Windows& windows, const Measure& measure) {
  return std::find_if(windows.begin(), windows.end(),
                      [&](const auto& each) { return each.measure == measure; });
}

}  // namespace

Changes::Changes(Matters matters) : matters_(std::move(matters)) {}

void Changes::reported(const Message& report) {
  reported_.resize(report.windows.size());
  for (std::size_t i = 0; i < reported_.size(); ++i) {
    const Summary& window = report.windows[i];
    Reported& kept = reported_[i];
    kept.measure = window.measure();
    kept.counts.clear();
    kept.counts.reserve(window.keys.size());
    for (const KeyCount& key : window.keys) kept.counts.emplace_back(key.hash.value, key.low);
    std::sort(kept.counts.begin(), kept.counts.end());
  }
}

void Changes::listed(const Message& list) {
  instances_ = std::max<std::uint64_t>(list.instances, 1);
  listed_.resize(list.windows.size());
  for (std::size_t i = 0; i < listed_.size(); ++i) {
    const Summary& window = list.windows[i];
    Listed& kept = listed_[i];
    kept.measure = window.measure();
    kept.mean = window.total() / instances_;
    kept.counts.clear();
    kept.counts.reserve(std::min(window.keys.size(), kListKeys));
    for (const KeyCount& key : window.keys) {
      if (kept.counts.size() == kListKeys) break;
      kept.counts.emplace_back(key.hash.value, key.low / instances_ / 4);
    }
    std::sort(kept.counts.begin(), kept.counts.end());
  }
}

bool Changes::matter(std::span<const Summary> windows) const {
  return std::any_of(windows.begin(), windows.end(), [&](const Summary& window) {
    return window.window > Nanos{} && matter(window);
  });
}

bool Changes::matter(const Summary& window) const {
  const Measure measure = window.measure();
  const auto known = of_measure(reported_, measure);
  if (known == reported_.end()) return true;  // the first counts of this window
  const auto before = [&](std::uint64_t hash) -> std::uint64_t {
    const std::size_t place = place_of(known->counts, hash);
    return place == known->counts.size() ? 0 : known->counts[place].second;
  };
  static const Counts kNothing;
  const auto list = of_measure(listed_, measure);
  const bool has_list = list != listed_.end();
  const Counts& listed = has_list ? list->counts : kNothing;
  const detect::CountLevel level =
      matters_ ? matters_(measure, instances_) : detect::CountLevel{1, kPartWithoutRules};
  const std::uint64_t least =
      std::max<std::uint64_t>(level.of(has_list ? list->mean : window.total()), 1);
  std::array<bool, kListKeys> is_seen{};  // keys of the list
  std::size_t busy = 0;
  for (const KeyCount& key : window.keys) {
    const std::size_t place = place_of(listed, key.hash.value);
    const bool is_listed = place < listed.size();
    if (key.key_truncated || (!is_listed && busy++ >= kReportKeys)) continue;
    const std::uint64_t last = before(key.hash.value);
    const std::uint64_t slack = is_listed ? std::max(least, listed[place].second) : least;
    if (is_beyond(key.low, last, slack) || (is_listed && is_beyond(last, key.high, slack)))
      return true;
    if (is_listed) is_seen[place] = true;
  }
  for (std::size_t place = 0; place < listed.size(); ++place) {
    const auto& [hash, mean] = listed[place];
    if (!is_seen[place] && is_beyond(before(hash), window.absent_max, std::max(least, mean)))
      return true;
  }
  return false;
}

}  // namespace heatsink::fleet
