// SPDX-License-Identifier: Apache-2.0
// Holds tokens that were paid for on the server and are spent here, and decides how many to buy.
#pragma once

#include <atomic>
#include <cstdint>

#include "heatsink/base/clock.h"

namespace heatsink::distributed {

struct PrepaidLimits {
  std::uint64_t held_max = 1;  // maximum of tokens that the process may hold of one limit
  Nanos lasts = Millis(200);   // lifetime of an unspent token, from its payment
};

// Spending is lock-free for any number of threads: one compare-and-swap. One thread at a time may
// buy, after begin_buying(). Time is an argument.
//
// A batch is the demand of the last half lifetime, so a busy limit asks the server about twice per
// lifetime, at any call rate. It is at most twice the batch before, so that two calls that happen
// to be close together do not buy many tokens for nothing.
class PrepaidTokens {
 public:
  static constexpr std::uint64_t kHeldMax = (std::uint64_t{1} << 26U) - 1;

  enum class Spent : std::uint8_t { kNo, kYes, kYesAndLow };  // low: time to buy the next batch

  // Takes all n or none.
  Spent spend(std::uint64_t n, TimePoint now) noexcept;

  // False: another thread is buying.
  bool begin_buying() noexcept {
    return !is_buying_.load(std::memory_order_relaxed) &&
           !is_buying_.exchange(true, std::memory_order_acquire);
  }
  void end_buying() noexcept { is_buying_.store(false, std::memory_order_release); }

  // For the buyer: the number of tokens to ask for, beside the n that are spent at once.
  std::uint64_t batch(std::uint64_t n, const PrepaidLimits& limits, TimePoint now) noexcept;
  // Adds bought tokens, paid for at `paid_at` or later. Returns the number that lapsed unspent.
  std::uint64_t add(std::uint64_t tokens, const PrepaidLimits& limits, TimePoint paid_at,
                    TimePoint now) noexcept;

  // Gives back tokens that were spent and not used; those that have expired meanwhile are lost.
  void give_back(std::uint64_t n, TimePoint now) noexcept;

  // Tokens that a call spent at the server directly while another thread was buying: they are
  // demand too.
  void spent_directly(std::uint64_t n) noexcept { direct_.fetch_add(n, std::memory_order_relaxed); }

  std::uint64_t held(TimePoint now) const noexcept;
  bool is_in_use() const noexcept { return batch_.load(std::memory_order_relaxed) > 1; }

 private:
  // the end in milliseconds in the upper bits, the tokens below
  std::atomic<std::uint64_t> word_{0};
  std::atomic<std::uint64_t> batch_{0};  // size of the last batch
  std::atomic<std::uint64_t> direct_{0};
  std::atomic<bool> is_buying_{false};
  // Only for the buyer:
  std::uint64_t bought_ = 0;  // tokens held after the last purchase
  TimePoint bought_at_{};
};

}  // namespace heatsink::distributed
