// SPDX-License-Identifier: Apache-2.0
// Finds the slot of a time in the sliding window; slots are aligned to their length.
#pragma once

#include <algorithm>
#include <cstdint>

#include "heatsink/base/clock.h"

namespace heatsink::detect {

// The maximum of slots kept per key. For a finer resolution use a shorter window.
inline constexpr std::uint32_t kSlotsMax = 10;

// A position in the window. `turn` numbers the slots since the clock's epoch (mod 2^32). `slot` is
// turn mod slots: the ring index of the turn and its position within its *lap*. Ring cells 0 ..
// slot hold turns of this lap, the cells above hold turns of the last one.
struct Position {
  std::uint32_t turn = 0;
  std::uint32_t slot = 0;
  std::uint32_t slots = kSlotsMax;

  std::uint32_t before(std::uint32_t cell) const { return (cell == 0 ? slots : cell) - 1; }
};

// Not thread-safe. Has no timer: it moves when it gets a later time; a step back is ignored.
class SlotClock {
 public:
  // Cells that begin a new turn, and laps that ended, in one move; both are capped.
  struct Move {
    std::uint32_t turns = 0;  // 0 .. slots
    std::uint32_t laps = 0;   // 0 .. 2
  };

  SlotClock(Nanos window, std::uint32_t slots)
      : slots_(std::clamp<std::uint32_t>(slots, 1, kSlotsMax)),
        length_(std::max<Nanos>(window / slots_, Nanos(1))) {
    position_.slots = slots_;
  }

  bool due(TimePoint now) const { return now >= next_; }
  TimePoint next() const { return next_; }  // when move_to() is due

  // REQUIRES: due(now).
  Move move_to(TimePoint now) {
    const auto number = static_cast<std::uint64_t>(now.time_since_epoch() / length_);
    const bool first = next_ == TimePoint::min();
    const Move move{first ? 0 : capped(number - number_, slots_),
                    first ? 0 : capped(number / slots_ - number_ / slots_, 2)};
    if (first) start_ = now;
    number_ = number;
    next_ = TimePoint(length_ * static_cast<Nanos::rep>(number + 1));
    position_.turn = static_cast<std::uint32_t>(number);
    position_.slot = static_cast<std::uint32_t>(number % slots_);
    return move;
  }

  const Position& position() const { return position_; }
  Nanos window() const { return length_ * slots_; }

  // Whether the clock has covered a whole window at `now`.
  bool covers_window(TimePoint now) const { return now - start_ >= window(); }

  // The part of the window that is covered at `now`: from the first time given, or from the
  // beginning of the oldest slot, to now.
  Nanos covered(TimePoint now) const {
    const TimePoint latest = std::max(now, next_ - length_);
    return latest - std::max(start_, next_ - window());
  }

 private:
  static std::uint32_t capped(std::uint64_t n, std::uint32_t limit) {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(n, limit));
  }

  std::uint32_t slots_;
  Nanos length_;
  std::uint64_t number_ = 0;
  TimePoint start_{};
  TimePoint next_ = TimePoint::min();  // the end of the current slot
  Position position_;
};

}  // namespace heatsink::detect
