// SPDX-License-Identifier: Apache-2.0
// How often commands on a key are held back, for who looks at that key.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/base/hash.h"

namespace heatsink::policy {

// Of kKeysMax keys at once, counted by seconds; one that nobody has asked for in the last
// kSeconds - 1 makes room, and where there is none a key is not counted. Any thread, without a
// lock; 80 KiB. Two threads that find the same counter empty may lose a few.
class LimitedKeys {
 public:
  static constexpr std::size_t kKeysMax = 2048;

  void add(KeyHash key, TimePoint now) noexcept;
  double rate(KeyHash key, TimePoint now) const noexcept;  // per second, over the last 2 to 3 s

 private:
  static constexpr std::size_t kWays = 4;
  static constexpr std::uint64_t kSeconds = 4;

  // A second's number above its count, so that one of long ago is taken over by whoever comes.
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
