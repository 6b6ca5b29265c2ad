// SPDX-License-Identifier: Apache-2.0
// What an instance of a simulated fleet counts: many keys that are equally busy, and one hot key.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "bench/fleet_simulation.h"
#include "heatsink/base/hash.h"
#include "heatsink/detect/summary.h"
#include "heatsink/fleet/bounds.h"

namespace heatsink::bench {

inline constexpr std::uint64_t kFleetSeed = 7;
inline constexpr Nanos kFleetWindow = std::chrono::seconds(10);

inline detect::KeyCount counted_key(const std::string& name, std::uint64_t count) {
  detect::KeyCount key;
  key.key = name;
  key.hash = in_db(hash_name(name, kFleetSeed), 0);
  key.low = key.high = key.reads = count;
  return key;
}

// The others' counts of a window are drawn once; the hot key's accesses come one by one.
class SimulatedCounts {
 public:
  SimulatedCounts(const FleetLoad& load, std::uint64_t instance) : random_(instance + 1) {
    std::vector<std::uint16_t> counts(load.keys);
    requests_ = static_cast<std::uint64_t>(load.each_per_s * 10);
    for (std::uint64_t i = 0; i < requests_; ++i) ++counts[random_() % load.keys];
    std::vector<std::uint32_t> order(load.keys);
    for (std::uint32_t i = 0; i < load.keys; ++i) order[i] = i;
    const auto end =
        order.begin() +
        std::min<std::ptrdiff_t>(fleet::kReportKeys, static_cast<std::ptrdiff_t>(load.keys));
    std::partial_sort(order.begin(), end, order.end(),
                      [&](std::uint32_t a, std::uint32_t b) { return counts[a] > counts[b]; });
    for (auto at = order.begin(); at != end; ++at) others_.push_back({*at, counts[*at]});
    absent_max_ = end == order.end() ? 0 : counts[*end];
    next_per_s_ = load.each_per_s * load.hot_share;
  }

  // `hot_for`: since when the hot key gets its share, in seconds; negative: not yet.
  std::vector<detect::Summary> windows(TimePoint now, double hot_for) {
    while (hot_for >= 0 && next_at_ <= hot_for) {
      ++hot_;
      next_at_ += std::exponential_distribution<double>(next_per_s_)(random_);
    }
    detect::Summary window;
    window.at = now;
    window.window = window.covered = kFleetWindow;
    window.settled = true;
    window.requests = window.reads = requests_ + hot_;
    window.absent_max = absent_max_;
    window.keys.reserve(others_.size() + 1);
    for (const auto& [key, count] : others_)
      window.keys.push_back(counted_key("item:" + std::to_string(key), count));
    if (hot_ > 0) window.keys.push_back(counted_key("sale:1", hot_));
    std::sort(window.keys.begin(), window.keys.end(),
              [](const auto& a, const auto& b) { return a.high > b.high; });
    return {std::move(window)};
  }

 private:
  struct Other {
    std::uint32_t key;
    std::uint32_t count;
  };
  std::minstd_rand random_;
  std::vector<Other> others_;
  std::uint64_t requests_ = 0, hot_ = 0, absent_max_ = 0;
  double next_per_s_ = 0, next_at_ = 0;
};

}  // namespace heatsink::bench
