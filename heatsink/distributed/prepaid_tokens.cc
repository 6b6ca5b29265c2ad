// SPDX-License-Identifier: Apache-2.0
#include "heatsink/distributed/prepaid_tokens.h"

#include <algorithm>

namespace heatsink::distributed {
namespace {

constexpr unsigned kTokenBits = 26;  // leaves 38 bits: 8 years of milliseconds
constexpr std::uint64_t kTokenMask = PrepaidTokens::kHeldMax;

std::uint64_t milliseconds(TimePoint time) {
  const std::int64_t ns = std::max<std::int64_t>(time.time_since_epoch().count(), 0);
  return static_cast<std::uint64_t>(ns) / 1'000'000;
}

std::uint64_t tokens_in(std::uint64_t word, TimePoint now) {
  return (word >> kTokenBits) > milliseconds(now) ? word & kTokenMask : 0;
}

}  // namespace

std::uint64_t PrepaidTokens::held(TimePoint now) const noexcept {
  return tokens_in(word_.load(std::memory_order_relaxed), now);
}

PrepaidTokens::Spent PrepaidTokens::spend(std::uint64_t n, TimePoint now) noexcept {
  std::uint64_t seen = word_.load(std::memory_order_relaxed);
  for (;;) {
    const std::uint64_t tokens = tokens_in(seen, now);
    if (tokens < n) return Spent::kNo;
    if (word_.compare_exchange_weak(seen, seen - n, std::memory_order_relaxed)) {
      // Buying at half of a batch leaves time for the round trip.
      const bool is_low = (tokens - n) * 2 < batch_.load(std::memory_order_relaxed);
      return is_low ? Spent::kYesAndLow : Spent::kYes;
    }
  }
}

void PrepaidTokens::give_back(std::uint64_t n, TimePoint now) noexcept {
  std::uint64_t seen = word_.load(std::memory_order_relaxed);
  do {
    const bool has_expired = (seen >> kTokenBits) <= milliseconds(now);
    if (has_expired || (seen & kTokenMask) + n > kHeldMax) return;
  } while (!word_.compare_exchange_weak(seen, seen + n, std::memory_order_relaxed));
}

std::uint64_t PrepaidTokens::batch(std::uint64_t n, const PrepaidLimits& limits,
                                   TimePoint now) noexcept {
  const std::uint64_t left = held(now);
  const std::uint64_t direct = direct_.exchange(0, std::memory_order_relaxed);
  const std::uint64_t spent = n + direct + (bought_ > left ? bought_ - left : 0);
  const double took_ns = std::max(static_cast<double>((now - bought_at_).count()), 1.0);
  const double demand =
      static_cast<double>(spent) * static_cast<double>(limits.lasts.count()) / 2 / took_ns;
  // Two calls close together suggest a huge demand, so a batch grows at most twofold.
  const std::uint64_t twice = 2 * std::max<std::uint64_t>(batch_.load(), 1);
  const auto wanted = static_cast<std::uint64_t>(std::min(demand, static_cast<double>(twice)));
  const std::uint64_t room = limits.held_max > left ? limits.held_max - left : 0;
  batch_.store(wanted, std::memory_order_relaxed);
  return std::min({wanted, room, kHeldMax - left});
}

// Older tokens get the new end, too: they are spent first, and the limit applies to the sum.
std::uint64_t PrepaidTokens::add(std::uint64_t tokens, const PrepaidLimits& limits,
                                 TimePoint paid_at, TimePoint now) noexcept {
  const std::uint64_t end = milliseconds(paid_at + limits.lasts);
  std::uint64_t seen = word_.load(std::memory_order_relaxed);
  std::uint64_t sum = 0, lapsed = 0;
  do {
    const std::uint64_t left = tokens_in(seen, now);
    lapsed = (seen & kTokenMask) - left;
    sum = std::min(left + tokens, kHeldMax);
  } while (
      !word_.compare_exchange_weak(seen, (end << kTokenBits) + sum, std::memory_order_relaxed));
  bought_ = sum;
  bought_at_ = now;
  return lapsed;
}

}  // namespace heatsink::distributed
