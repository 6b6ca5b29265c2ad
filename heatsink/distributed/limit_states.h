// SPDX-License-Identifier: Apache-2.0
// Keeps this process's state of the most recently used limited keys.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "heatsink/base/clock.h"
#include "heatsink/distributed/prepaid_tokens.h"

namespace heatsink::distributed {

// Remembers the server's refusals, so that it is not asked again while its answer cannot change.
// Lock-free, any number of threads. One integer: the end of the refusal (microseconds of
// BootClock), and the number of tokens that was refused. Fewer tokens may still pass, so the server
// is asked for them.
class Denial {
 public:
  // Larger numbers are not remembered.
  static constexpr std::uint64_t kCountMax = (1U << 12U) - 1;

  // The server refused n, and would until `until`. Of two refusals the one that ends later is kept.
  void remember(std::uint64_t n, TimePoint until) noexcept {
    if (n > kCountMax) return;
    const std::uint64_t told = (microseconds(until) << kCountBits) + n;
    std::uint64_t seen = word_.load(std::memory_order_relaxed);
    while (told > seen && !word_.compare_exchange_weak(seen, told, std::memory_order_relaxed)) {
    }
  }
  void forget() noexcept { word_.store(0, std::memory_order_relaxed); }

  // For how long n will be refused; 0: not, or not known.
  Nanos refuses(std::uint64_t n, TimePoint now) const noexcept {
    const std::uint64_t word = word_.load(std::memory_order_relaxed);
    const std::uint64_t until = word >> kCountBits;
    const std::uint64_t at = microseconds(now);
    if (until <= at || n < (word & kCountMax)) return Nanos(0);
    return std::chrono::microseconds(until - at);
  }

 private:
  static constexpr unsigned kCountBits = 12;  // leaves 140 years of microseconds

  static std::uint64_t microseconds(TimePoint time) noexcept {
    const auto since_boot =
        std::chrono::duration_cast<std::chrono::microseconds>(time.time_since_epoch());
    constexpr std::int64_t kLast = (std::int64_t{1} << 52U) - 1;
    return static_cast<std::uint64_t>(std::clamp<std::int64_t>(since_boot.count(), 0, kLast));
  }

  std::atomic<std::uint64_t> word_{0};
};

struct LimitState {
  explicit LimitState(std::string name) : key(std::move(name)) {}

  const std::string key;  // on the server
  Denial denial;
  PrepaidTokens prepaid;
};

// Thread-safe. find() takes one of 16 locks; O(1). A state that is evicted while a caller still
// holds it continues to work for that caller. Two states of one key buy separately, and each token
// is paid for either way. The unspent tokens of an evicted state lapse.
class LimitStates {
 public:
  explicit LimitStates(std::size_t keys_max) : each_max_((keys_max + kParts - 1) / kParts) {}

  // Creates the state if it does not exist; `prefix` is put before the key on the server.
  std::shared_ptr<LimitState> find(std::string_view prefix, std::string_view key);
  std::size_t size() const;

 private:
  static constexpr std::size_t kParts = 16;
  using Row = std::pair<std::string, std::shared_ptr<LimitState>>;
  struct Part {
    mutable std::mutex mutex;
    std::list<Row> rows;  // most recently used first
    std::unordered_map<std::string_view, std::list<Row>::iterator> by_key;  // names are the rows'
  };

  const std::size_t each_max_;
  std::array<Part, kParts> parts_;
};

}  // namespace heatsink::distributed
