// SPDX-License-Identifier: Apache-2.0
// Inside capture: of how many connections the replies are watched, so that a busy server does not
// pay for it.
#pragma once

#include <cstdint>
#include <optional>

#include "heatsink/base/clock.h"
#include "heatsink/capture/reply_watch.h"

namespace heatsink::capture {

// What was seen of replies so far.
struct RepliesSeen {
  std::uint64_t segments = 0;
  std::uint64_t bytes = 0;
};

// The kernel copies a packet for the capture where the packet passes: on loopback within the
// server's own send(). So while there are more than `replies_max` a second, those of one part of
// the connections are watched, the next part each kSlot; when there are less than half as many,
// again all. A part and not a stretch of time, because it takes a connection two quiet moments
// until its replies can be told apart (reply_matcher.h): a window of a tenth of a second ends
// before a connection of ten requests a second has had them. A round of all parts takes 8 s, less
// than the ten that figures are told of, so every connection is among them. Not thread-safe; O(1).
class ReplyPace {
 public:
  static constexpr double kSegmentBytes = 4096;  // of replies count as one more
  static constexpr Nanos kSlot = std::chrono::seconds(1);
  static constexpr Nanos kLook = Millis(250);  // so often while all are watched

  // `replies_max`: segments a second.
  explicit ReplyPace(double replies_max) : replies_max_(replies_max) {}

  // To be called often, with the time since the epoch and with what was seen up to now. What is to
  // be watched from now on; nothing: what it was (at first all).
  std::optional<ReplyWatch> next(std::int64_t now_ns, const RepliesSeen& seen);

 private:
  double since_mark(const RepliesSeen& seen) const;
  void mark(std::int64_t now_ns, const RepliesSeen& seen);
  std::optional<ReplyWatch> leave_all(std::int64_t now_ns, const RepliesSeen& seen);
  std::optional<ReplyWatch> next_part(std::int64_t now_ns, const RepliesSeen& seen);

  double replies_max_;
  std::optional<std::int64_t> mark_ns_;  // when counting began: a look, or a round
  RepliesSeen mark_;
  std::int64_t slot_ns_ = 0;      // when the slot began
  std::optional<unsigned> part_;  // that is watched; nothing: all
};

}  // namespace heatsink::capture
