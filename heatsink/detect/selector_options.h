// SPDX-License-Identifier: Apache-2.0
// What a selector is told: its rules, how many keys may be hot, and how often that may change.
#pragma once

#include <cstddef>
#include <cstdint>

#include "heatsink/base/clock.h"
#include "heatsink/detect/rules.h"

namespace heatsink::detect {

struct SelectorOptions {
  RuleSet rules{};
  // At most so many hot keys, under all rules together; 0: no bound but keys_max.
  std::uint32_t top_n = 1000;
  // At most so many hot, write-hot and warm keys; the hot ones come first. At least 1.
  std::size_t keys_max = 4096;
  // Promotions are made at most this often, all that are due together; 0: each at once.
  Nanos promotion_interval{0};
  // The same for demotions, except those of keys that become write-hot.
  Nanos demotion_interval{0};
  // A key is hot before its window proves it when it holds this part of what makes it hot (hot x
  // window), and has gained most of that since a sighting window / 50 ago at most: 100 x the
  // threshold is known after window / 400. 0: never. Not under rules with confirm_windows > 1, nor
  // where that part is fewer than ten accesses.
  double burst = 0.25;
};

}  // namespace heatsink::detect
