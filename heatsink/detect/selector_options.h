// SPDX-License-Identifier: Apache-2.0
// Defines a selector's rules, its limit of hot keys, and how often the set may change.
#pragma once

#include <cstddef>
#include <cstdint>

#include "heatsink/base/clock.h"
#include "heatsink/detect/rules.h"

namespace heatsink::detect {

struct SelectorOptions {
  RuleSet rules{};
  // Maximum of hot keys, under all rules together; 0: only keys_max limits them.
  std::uint32_t top_n = 1000;
  // Maximum of hot, write-hot and warm keys; hot keys come first. At least 1.
  std::size_t keys_max = 4096;
  // Minimum time between promotions; all due ones happen together. 0: each happens at once.
  Nanos promotion_interval{0};
  // Minimum time between demotions, except for keys that become write-hot.
  Nanos demotion_interval{0};
  // A key is hot before its window proves it if it has this part of the count that makes it hot
  // (hot x window), and gained most of it since a sighting at most window / 50 ago. So 100 x the
  // threshold is noticed after window / 400. 0: never. Not used under rules with confirm_windows >
  // 1, nor if the part is fewer than ten accesses.
  double burst = 0.25;
};

}  // namespace heatsink::detect
