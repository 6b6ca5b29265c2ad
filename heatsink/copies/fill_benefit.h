// SPDX-License-Identifier: Apache-2.0
// Decides whether filling copies of a key pays off: a fill costs the server more than a plain read.
#pragma once

#include <cstdint>

#include "heatsink/base/clock.h"
#include "heatsink/base/direct_mapped_table.h"
#include "heatsink/base/hash.h"

namespace heatsink::copies {

// A key may be read in a hundred ways (HGET of many fields) but has eight copies. Most fills then
// evict a copy that had no hit yet, and each costs two commands instead of one. So after kTrial
// fills in a second, a key must have had the hits that pay for them. Otherwise its reads go to the
// server for the rest of that second.
//
// One worker's thread. Fixed memory; colliding keys overwrite each other.
class FillBenefit {
 public:
  static constexpr std::uint32_t kTrial = 16;
  static constexpr Nanos kWindow = std::chrono::seconds(1);

  // `reads_to_pay`: hits that make up for a fill.
  bool pays(KeyHash key, TimePoint now, std::uint32_t reads_to_pay) {
    Counts& counts = counts_.claim(key);
    if (now >= counts.until) counts = {.until = now + kWindow};
    return counts.fills < kTrial || counts.hits >= std::uint64_t{counts.fills} * reads_to_pay;
  }
  void filled(KeyHash key) { ++counts_.claim(key).fills; }  // REQUIRES pays(key) just before
  void hit(KeyHash key) {
    if (Counts* counts = counts_.find(key)) ++counts->hits;
  }

 private:
  struct Counts {
    TimePoint until{};
    std::uint32_t fills = 0;
    std::uint32_t hits = 0;  // including readers that joined a fill
  };

  DirectMappedTable<KeyHash, Counts, 1024> counts_;  // 24 KiB
};

}  // namespace heatsink::copies
