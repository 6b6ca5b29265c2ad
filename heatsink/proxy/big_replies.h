// SPDX-License-Identifier: Apache-2.0
// Remembers which commands had big replies lately, by command and key, and how big they were.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "heatsink/base/hash.h"

namespace heatsink::proxy {

// A reply's size is known when it comes, and the connection is chosen when its command goes: so a
// command is judged by the reply before. STRLEN of a big value is not GET of it, hence the command.
// Fixed memory (16 KiB), direct-mapped, the latest big one stays. One worker's thread. O(1).
class BigReplies {
 public:
  static constexpr std::uint64_t kBigBytes = 64 * 1024;
  static constexpr std::size_t kPlaces = 1024;
  // A key whose replies vary is taken for big until so many smaller ones came in a row.
  static constexpr std::uint32_t kForgottenAfter = 8;

  // `command`: any number that is the command's own, not 0.
  static std::uint64_t hash(std::uint16_t command, KeyHash key) {
    return key.value ^ (command * 0x9e3779b97f4a7c15ULL);  // the golden ratio: all bits differ
  }

  void saw(std::uint64_t which, std::uint64_t bytes) {
    Place& place = places_[which % kPlaces];
    if (place.which != which || place.bytes == 0) {
      if (bytes < kBigBytes) return;
      if (place.bytes == 0) ++size_;
      place = {which, clamp(bytes), 0};
    } else if (bytes >= kBigBytes && bytes >= place.bytes / 2) {
      place = {which, clamp(bytes), 0};
    } else if (++place.smaller == kForgottenAfter) {
      place = {which, bytes < kBigBytes ? 0 : clamp(bytes), 0};
      if (place.bytes == 0) --size_;
    }
  }

  // 0: not known to be big.
  std::uint32_t expect(std::uint64_t which) const {
    const Place& place = places_[which % kPlaces];
    return place.which == which ? place.bytes : 0;
  }

  bool empty() const { return size_ == 0; }

 private:
  struct Place {
    std::uint64_t which = 0;
    std::uint32_t bytes = 0;  // 0: a free place
    std::uint32_t smaller = 0;
  };

  static std::uint32_t clamp(std::uint64_t bytes) {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, UINT32_MAX));
  }

  std::vector<Place> places_ = std::vector<Place>(kPlaces);
  std::size_t size_ = 0;
};

}  // namespace heatsink::proxy
