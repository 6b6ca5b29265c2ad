// SPDX-License-Identifier: Apache-2.0
// Merges the reports of many instances one after the other, in bounded memory and small steps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "heatsink/fleet/message.h"
#include "heatsink/fleet/window_sum.h"

namespace heatsink::fleet {

// One thread. Adding a report of 100 keys costs about 10 us (window_sum.h). Measures beyond
// detect::kMeasuresMax are ignored.
class Collector {
 public:
  // REQUIRES hashes of one seed in all messages (decode()).
  void add(Message message);
  // The sum, with `keys_max` keys in each window; the collector is empty afterwards.
  Message finish(std::size_t keys_max);

 private:
  std::vector<WindowSum> sums_;  // one of each measure
  std::uint64_t instances_ = 0;
};

}  // namespace heatsink::fleet
