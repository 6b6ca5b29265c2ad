// SPDX-License-Identifier: Apache-2.0
// Merges the reports of many instances one after the other, in bounded memory and small steps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "heatsink/base/hash.h"
#include "heatsink/detect/hash_index.h"
#include "heatsink/detect/merge.h"
#include "heatsink/detect/summary.h"
#include "heatsink/fleet/message.h"

namespace heatsink::fleet {

// Adds up the counts of one window over many instances, in bounded memory. One thread. The bounds
// are those of detect::join(): a key that an instance does not list adds that instance's absent_max
// to its high. Of a key it keeps the counts that reports have (make_report): no hits, bytes,
// commands and clients; a key whose whole name is unknown is treated as not listed. Adding 100 keys
// costs about 10 us. Beyond kKeysMax keys it keeps the kKeysKept with the largest proven counts:
// what is cut widens bounds, and keeps them true.
class WindowSum {
 public:
  static constexpr std::size_t kKeysKept = 1024;
  static constexpr std::size_t kKeysMax = 4096;

  // REQUIRES, of all windows: one measure (is_of()), hashes of one seed, distinct within a window.
  void add(detect::Summary window);
  // A sum of nothing is of any measure.
  bool is_of(const detect::Summary& window) const;
  // The `keys_max` keys with the largest proven counts. (detect::cut() goes by the upper bounds,
  // and among many instances the bounds of keys that few of them list are the largest.)
  detect::Summary finish(std::size_t keys_max);

 private:
  struct KeySum {
    KeyHash hash;
    std::uint32_t db = 0;
    std::string name;
    std::uint64_t low = 0, reads = 0, writes = 0;
    detect::Wide excess = 0;  // of high over absent_max_; modular, since it may be below 0
  };

  void add_key(detect::KeyCount& key, std::uint64_t absent_max);
  void cut(std::size_t keys_max);

  detect::Summary totals_;
  detect::Wide absent_max_ = 0;
  std::vector<KeySum> keys_;
  detect::HashIndex places_;  // in keys_
};

// One thread. Adding a report of 100 keys costs about 10 us. Measures beyond
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
