// SPDX-License-Identifier: Apache-2.0
// Whether the fills of a key pay: a fill costs the server more than the read that it stands for.
#pragma once

#include <cstdint>

#include "heatsink/base/clock.h"
#include "heatsink/base/direct_mapped_table.h"
#include "heatsink/base/hash.h"

namespace heatsink::copies {

// A key that is read in a hundred ways (HGET of this field and that) has copies for eight: most
// fills push out a copy before anybody has had it, and each costs two commands instead of one. So
// in each second, after kTrial fills, there must have been as many hits as fills; else the reads go
// to the server until the second is over.
//
// One worker's thread. Fixed memory; colliding keys overwrite each other.
class FillBenefit {
 public:
  static constexpr std::uint32_t kTrial = 16;
  static constexpr Nanos kWindow = std::chrono::seconds(1);

  bool pays(KeyHash key, TimePoint now) {
    Counts& counts = counts_.claim(key);
    if (now >= counts.until) counts = {.until = now + kWindow};
    return counts.fills < kTrial || counts.hits >= counts.fills;
  }
  void filled(KeyHash key) { ++counts_.claim(key).fills; }  // REQUIRES pays(key) just now
  void hit(KeyHash key) {
    if (Counts* counts = counts_.find(key)) ++counts->hits;
  }

 private:
  struct Counts {
    TimePoint until{};
    std::uint32_t fills = 0;
    std::uint32_t hits = 0;  // and readers that joined a fill
  };

  DirectMappedTable<KeyHash, Counts, 1024> counts_;  // 24 KiB
};

}  // namespace heatsink::copies
