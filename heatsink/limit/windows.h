// SPDX-License-Identifier: Apache-2.0
// Two limits by windows: the fixed window is the simplest, with bursts at its borders; the sliding
// window never allows more than its count.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "heatsink/limit/level.h"
#include "heatsink/limit/limiter.h"

namespace heatsink::limit {

// Limits the count in each fixed window. Windows begin at multiples of their length on the clock,
// at the same time for all limiters. In a time as long as a window twice the count may pass: all of
// one window at its end, and all of the next one at its beginning. If that is too much, use the
// sliding window. The state is one number: the count given away since time began; a window that is
// over has given away its whole count.
class FixedWindow final : public Limiter {
 public:
  // Allows rate.count in each rate.per. REQUIRES check_rate(rate).
  explicit FixedWindow(const Rate& rate)
      : count_(rate.count), length_ns_(static_cast<std::uint64_t>(rate.per.count())) {}

  Decision try_acquire(std::uint64_t n, TimePoint now) noexcept override;
  void give_back(std::uint64_t n, TimePoint taken_at) noexcept override;
  void forget() noexcept override { level_.reset(); }

 private:
  Nanos time_to(std::uint64_t windows_ahead, std::uint64_t now_ns) const noexcept;

  const std::uint64_t count_;
  const std::uint64_t length_ns_;
  Level level_;
};

// Limits the count in any window, wherever it begins; counts in slots. In any time as long as the
// window at most the count passes. For that the limiter looks back at least that long: over the
// current slot and all earlier slots that the window touches. So a call counts for up to one slot
// too long: under steady pressure at least slots / (slots + 1) of the count pass, 91 % with ten.
// (Tried and rejected: weighting the oldest slot by its part still inside the window. It guesses,
// and lets more pass when the guess is wrong.)
//
// A slot is one integer, its number and its count. The first caller takes over an old slot's cell,
// so no timer has to run. The newest slot used by any thread applies to all: a caller whose clock
// is behind uses that slot's time. A caller that sees after adding that time has gone on gives back
// and tries again. So threads never get more than there is; a thread may be refused what another is
// just giving back. A clock further behind than the window and kStandstill was set back: then the
// counts are forgotten.
class SlidingWindow final : public Limiter {
 public:
  // Allows rate.count in any rate.per. REQUIRES options that make_limiter() accepts.
  SlidingWindow(const Rate& rate, std::uint32_t slots);

  Decision try_acquire(std::uint64_t n, TimePoint now) noexcept override;
  void give_back(std::uint64_t n, TimePoint taken_at) noexcept override;
  void forget() noexcept override;

 private:
  // The slot's number, modulo 2^32, above its count. The number repeats after 2^32 slots: a limiter
  // that was idle for exactly that long would count the old slot once more.
  using Slot = std::uint64_t;

  std::atomic<Slot>& slot_at(std::uint64_t number) noexcept {
    return ring_[number % (slots_ + 1)];  // NOLINT: within kSlotsMax + 1
  }
  const std::atomic<Slot>& slot_at(std::uint64_t number) const noexcept {
    return ring_[number % (slots_ + 1)];  // NOLINT: within kSlotsMax + 1
  }
  std::uint64_t newest_slot(std::uint64_t now_ns) noexcept;
  std::uint64_t before(std::uint64_t now) noexcept;
  struct Taken {
    bool allowed;
    std::uint64_t passed;  // in the window, including n if allowed
  };
  Taken take(std::uint64_t now, std::uint64_t n) noexcept;
  void give_back_to(std::uint64_t number, std::uint64_t n) noexcept;
  Nanos retry_after(std::uint64_t n, std::uint64_t passed, std::uint64_t now,
                    std::uint64_t now_ns) const noexcept;

  const std::uint64_t count_;
  const std::uint32_t slots_;
  const std::uint64_t slot_ns_;
  const std::uint64_t behind_max_;  // slots
  std::atomic<std::uint64_t> newest_{0};
  std::atomic<Slot> before_{0};  // the newest slot's number, and the sum of earlier slots
  std::array<std::atomic<Slot>, kSlotsMax + 1> ring_{};  // slots_ + 1 of them are in use
};

}  // namespace heatsink::limit
