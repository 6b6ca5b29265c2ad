// SPDX-License-Identifier: Apache-2.0
// So many in any window, wherever one looks: counted in slots, never more than that.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "heatsink/limit/limiter.h"

namespace heatsink::limit {

// At most the count passes in any time as long as the window. That is kept by looking back at least
// that long: the slot of now and all slots before it that the window touches. So what passed is
// held against the caller for up to one slot longer than it should be: under steady pressure at
// least slots / (slots + 1) of the count pass, 91 % with ten. (Weighting the oldest slot by its
// part still inside the window would even that out by guessing, and let more pass when the guess is
// wrong.)
//
// A slot is one integer, its number and its count, so that a slot of long ago is taken over by
// whoever comes first, and nothing has to run. The newest slot that anybody has been in is that of
// all: a caller whose clock is behind is taken to its time, and whoever finds after adding that
// time has gone on gives back and asks again. So threads never get more than there is; one may be
// refused for what another is just giving back. A clock further behind than the window and
// kStandstill has been set back: what was counted is forgotten.
class SlidingWindow final : public Limiter {
 public:
  // rate.count in rate.per. REQUIRES what make_limiter() checks.
  SlidingWindow(const Rate& rate, std::uint32_t slots);

  Decision try_acquire(std::uint64_t n, TimePoint now) noexcept override;
  void give_back(std::uint64_t n, TimePoint taken_at) noexcept override;
  void forget() noexcept override;

 private:
  // The number of a slot, modulo 2^32, above its count. A number comes round after 2^32 slots, when
  // whoever was idle for just so long would be counted once more what passed then.
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
    std::uint64_t passed;  // in the window, n included if allowed
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
  std::atomic<Slot> before_{0};  // the newest's number, and the sum of those before it
  std::array<std::atomic<Slot>, kSlotsMax + 1> ring_{};  // slots_ + 1 of them are used
};

}  // namespace heatsink::limit
