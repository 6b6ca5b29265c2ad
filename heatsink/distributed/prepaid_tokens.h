// SPDX-License-Identifier: Apache-2.0
// Tokens that were paid for on the server and are spent here: how many there are, and how many are
// worth paying for at once.
#pragma once

#include <atomic>
#include <cstdint>

#include "heatsink/base/clock.h"

namespace heatsink::distributed {

struct PrepaidLimits {
  std::uint64_t held_max = 1;  // tokens; what the process may hold of one limit
  Nanos lasts = Millis(200);   // after it was paid for, an unspent token is worth nothing
};

// Spending is lock-free, any number of threads: one compare-and-swap. Buying is for whoever has
// begin_buying(), one at a time. Time is an argument.
//
// A batch is what was spent in half a lease's time lately, so that a limit that is in use asks the
// server about twice in that time, however often it is asked itself; and no more than twice the
// batch before, so that two calls that happen to be close do not take many tokens for nothing.
class PrepaidTokens {
 public:
  static constexpr std::uint64_t kHeldMax = (std::uint64_t{1} << 26U) - 1;

  enum class Spent : std::uint8_t { kNo, kYes, kYesAndLow };  // low: time to buy the next batch

  // All n or none.
  Spent spend(std::uint64_t n, TimePoint now) noexcept;

  // Another one buys already: false.
  bool begin_buying() noexcept {
    return !is_buying_.load(std::memory_order_relaxed) &&
           !is_buying_.exchange(true, std::memory_order_acquire);
  }
  void end_buying() noexcept { is_buying_.store(false, std::memory_order_release); }

  // For whoever buys: how many to ask for, beside the n that are spent at once.
  std::uint64_t batch(std::uint64_t n, const PrepaidLimits& limits, TimePoint now) noexcept;
  // So many came, paid for at `paid_at` or later. Returns how many lapsed unspent.
  std::uint64_t add(std::uint64_t tokens, const PrepaidLimits& limits, TimePoint paid_at,
                    TimePoint now) noexcept;

  // Tokens that were spent at the server directly, while another one bought: they are demand, too.
  void spent_directly(std::uint64_t n) noexcept { direct_.fetch_add(n, std::memory_order_relaxed); }

  std::uint64_t held(TimePoint now) const noexcept;
  bool is_in_use() const noexcept { return batch_.load(std::memory_order_relaxed) > 1; }

 private:
  std::atomic<std::uint64_t> word_{0};   // the end in milliseconds, above the tokens
  std::atomic<std::uint64_t> batch_{0};  // the last one
  std::atomic<std::uint64_t> direct_{0};
  std::atomic<bool> is_buying_{false};
  // The buyer's:
  std::uint64_t bought_ = 0;  // what there was after the last purchase
  TimePoint bought_at_{};
};

}  // namespace heatsink::distributed
