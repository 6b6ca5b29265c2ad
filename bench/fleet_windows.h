// SPDX-License-Identifier: Apache-2.0
// What an instance of a simulated fleet counts: many keys that are equally busy, and one hot key.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "bench/fleet_simulation.h"
#include "heatsink/base/hash.h"
#include "heatsink/detect/summary.h"
#include "heatsink/fleet/bounds.h"

namespace heatsink::bench {

inline constexpr std::uint64_t kFleetSeed = 7;
inline constexpr Nanos kFleetWindow = std::chrono::seconds(10);
inline constexpr char kNewKey[] = "sale:1";

inline double seconds(Nanos time) { return std::chrono::duration<double>(time).count(); }

inline detect::KeyCount key_named(const std::string& name) {
  detect::KeyCount key;
  key.key = name;
  key.hash = in_db(hash_name(name, kFleetSeed), 0);
  return key;
}

inline void set_count(detect::KeyCount& key, std::uint64_t count) {
  key.low = key.high = key.reads = count;
}

// The names of all keys, for all instances; and room for the window of one of them.
class SimulatedKeys {
 public:
  explicit SimulatedKeys(const FleetLoad& load) {
    for (std::uint64_t i = 0; i < load.keys; ++i)
      others_.push_back(key_named("item:" + std::to_string(i)));
  }

  const detect::KeyCount& other(std::size_t i) const { return others_[i]; }
  const detect::KeyCount& new_key() const { return new_key_; }
  detect::Summary& window() { return window_; }

 private:
  std::vector<detect::KeyCount> others_;
  detect::KeyCount new_key_ = key_named(kNewKey);
  detect::Summary window_;
};

// The others' counts of a window are drawn once; the hot key's accesses come one by one.
class SimulatedCounts {
 public:
  // `keys` outlives it.
  SimulatedCounts(const FleetLoad& load, std::uint64_t instance, SimulatedKeys& keys)
      : keys_(keys), random_(instance + 1) {
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
    others_.reserve(static_cast<std::size_t>(end - order.begin()));
    for (auto at = order.begin(); at != end; ++at) others_.push_back({*at, counts[*at]});
    absent_max_ = end == order.end() ? 0 : counts[*end];
    next_per_s_ = load.each_per_s * load.hot_share;
  }

  // `hot_for`: since when the hot key gets its share, in seconds; negative: not yet. The result is
  // valid until the next call with these keys.
  std::span<const detect::Summary> windows(TimePoint now, double hot_for) {
    while (hot_for >= 0 && next_at_ <= hot_for) {
      ++hot_;
      next_at_ += std::exponential_distribution<double>(next_per_s_)(random_);
    }
    detect::Summary& window = keys_.window();
    window.at = now;
    window.window = window.covered = kFleetWindow;
    window.covers_window = true;
    window.requests = window.reads = requests_ + hot_;
    window.absent_max = absent_max_;
    window.keys.resize(others_.size() + (hot_ > 0 ? 1 : 0));
    std::size_t at = 0;
    const auto add = [&](const detect::KeyCount& key, std::uint64_t count) {
      window.keys[at] = key;
      set_count(window.keys[at++], count);
    };
    bool is_added = hot_ == 0;
    for (const auto& [key, count] : others_) {
      if (!is_added && hot_ >= count) {
        add(keys_.new_key(), hot_);
        is_added = true;
      }
      add(keys_.other(key), count);
    }
    if (!is_added) add(keys_.new_key(), hot_);
    return {&window, 1};
  }

 private:
  struct Other {
    std::uint32_t key;
    std::uint32_t count;
  };
  SimulatedKeys& keys_;
  std::minstd_rand random_;
  std::vector<Other> others_;
  std::uint64_t requests_ = 0, hot_ = 0, absent_max_ = 0;
  double next_per_s_ = 0, next_at_ = 0;
};

}  // namespace heatsink::bench
