// SPDX-License-Identifier: Apache-2.0
// Counts how often limits hold back commands on each key, for the page of that key.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/base/hash.h"

namespace heatsink::policy {

// Thread-safe without a lock. Counts up to kKeysMax keys, second by second, in 80 KiB. A key that
// was not held back for kSeconds - 1 seconds gives its counter to a new key; without such a counter
// the new key is not counted. Two threads that claim the same idle counter at once may lose a few
// counts.
class LimitedKeys {
 public:
  static constexpr std::size_t kKeysMax = 2048;

  void add(KeyHash key, TimePoint now) noexcept;
  double rate(KeyHash key, TimePoint now) const noexcept;  // per second, over the last 2 to 3 s

 private:
  static constexpr std::size_t kWays = 4;
  static constexpr std::uint64_t kSeconds = 4;

  // The number of a second in the upper 32 bits, its count in the lower 32: the next thread that
  // counts sees that an old second is over, and starts it anew.
  using Second = std::atomic<std::uint64_t>;
  struct KeyCounter {
    std::atomic<std::uint64_t> key{0};
    std::array<Second, kSeconds> seconds{};
  };

  static std::uint64_t counted(const KeyCounter& counter, std::uint64_t second) noexcept;
  static bool is_idle(const KeyCounter& counter, std::uint64_t second) noexcept;
  KeyCounter* find(KeyHash key) noexcept;

  std::vector<KeyCounter> counters_{kKeysMax};
};

}  // namespace heatsink::policy
