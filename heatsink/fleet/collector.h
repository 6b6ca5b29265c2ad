// SPDX-License-Identifier: Apache-2.0
// Merges the reports of many instances one after the other, in bounded memory and small steps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "heatsink/detect/summary.h"
#include "heatsink/fleet/message.h"

namespace heatsink::fleet {

// One thread. Adding a report costs about 15 us with 100 keys, and at most a millisecond at every
// kBatch-th. Between batches it keeps kPartKeys keys of each measure: what is cut widens bounds,
// and keeps them true. Measures beyond detect::kMeasuresMax are ignored.
class Collector {
 public:
  static constexpr std::size_t kBatch = 64;
  static constexpr std::size_t kPartKeys = 1024;

  // REQUIRES hashes of one seed in all messages (decode()).
  void add(Message message);
  // The sum, with `keys_max` keys in each window; the collector is empty afterwards.
  Message finish(std::size_t keys_max);

 private:
  struct Part {
    std::vector<detect::Summary> waiting;  // of one measure; the first is the sum so far
  };
  static void merge(Part& part, std::size_t keys_max);

  std::vector<Part> parts_;
  std::uint64_t instances_ = 0;
};

}  // namespace heatsink::fleet
