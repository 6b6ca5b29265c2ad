// SPDX-License-Identifier: Apache-2.0
// Decides when the allocator should return freed memory to the system while clients are connected.
#pragma once

#include <algorithm>
#include <cstdint>

#include "heatsink/base/clock.h"

namespace heatsink::copies {

// Not thread-safe. Calls: `due() (trimmed() after true)`. Returning memory makes threads wait that
// allocate meanwhile, and memory that is needed again costs page faults. So it is worth it only
// when unused memory has grown by kWorthBytes over the least that there ever was, and at most every
// kPauseMin. After a trim in vain (the memory is in use after all, or in pieces) the pause doubles.
class TrimPolicy {
 public:
  static constexpr std::uint64_t kWorthBytes = 4 * 1024 * 1024;
  static constexpr Nanos kPauseMin = std::chrono::seconds(10);
  static constexpr Nanos kPauseMax = std::chrono::minutes(5);

  // `unused`: the memory in RAM beyond what is known to be in use. Called about once a second.
  // True: trim now.
  bool due(std::uint64_t unused, TimePoint now) {
    least_ = std::min(least_, unused);
    return unused - least_ >= kWorthBytes &&
           (trimmed_at_ == TimePoint{} || now - trimmed_at_ >= pause_);
  }
  void trimmed(std::uint64_t before, std::uint64_t after, TimePoint now) {
    const bool in_vain = after + kWorthBytes / 2 > before;
    pause_ = in_vain ? std::min(pause_ * 2, kPauseMax) : kPauseMin;
    trimmed_at_ = now;
  }

 private:
  std::uint64_t least_ = UINT64_MAX;
  TimePoint trimmed_at_{};
  Nanos pause_ = kPauseMin;
};

}  // namespace heatsink::copies
