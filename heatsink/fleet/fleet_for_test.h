// SPDX-License-Identifier: Apache-2.0
// Windows with given counts, for tests of a fleet.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "heatsink/base/hash.h"
#include "heatsink/detect/merge.h"
#include "heatsink/detect/summary.h"

namespace heatsink::fleet {

inline constexpr std::uint64_t kSeedForTest = 5;
using CountsForTest = std::vector<std::pair<std::string, std::uint64_t>>;

inline detect::KeyCount key_for_test(const std::string& name, std::uint64_t low,
                                     std::uint64_t high) {
  detect::KeyCount key;
  key.key = name;
  key.hash = in_db(hash_name(name, kSeedForTest), 0);
  key.low = key.reads = low;
  key.high = high;
  return key;
}

inline detect::Summary window_for_test(const CountsForTest& counts, std::uint64_t requests,
                                       std::uint64_t absent_max = 0) {
  detect::Summary window;
  window.window = window.covered = std::chrono::seconds(10);
  window.covers_window = true;
  window.requests = window.reads = requests;
  window.absent_max = absent_max;
  for (const auto& [name, count] : counts) window.keys.push_back(key_for_test(name, count, count));
  std::sort(window.keys.begin(), window.keys.end(), detect::is_busier);
  return window;
}

inline const detect::KeyCount* find_for_test(const detect::Summary& window,
                                             const std::string& name) {
  for (const detect::KeyCount& key : window.keys)
    if (key.key == name) return &key;
  return nullptr;
}

}  // namespace heatsink::fleet
