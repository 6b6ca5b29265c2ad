// SPDX-License-Identifier: Apache-2.0
// Inside capture: limits for how many connections the capture watches replies, to spare a busy
// server.
#pragma once

#include <cstdint>
#include <optional>

#include "heatsink/base/clock.h"
#include "heatsink/capture/reply_watch.h"

namespace heatsink::capture {

// Totals of the replies seen so far.
struct RepliesSeen {
  std::uint64_t segments = 0;
  std::uint64_t bytes = 0;
};

// The kernel copies a packet for the capture on the packet's way: on loopback inside the server's
// own send(). So above `replies_max` replies a second the capture watches only one part of the
// connections, and the next part after each kSlot. Below half of replies_max it watches all again.
//
// Tried and rejected: watching all connections for a part of the time. A connection needs two quiet
// moments before its replies can be matched (reply_matcher.h), and a window of a tenth of a second
// ends before a connection with ten requests a second has had them. A round over all parts takes 8
// s. Figures cover ten seconds, so each connection has a part in them. Not thread-safe; O(1).
class ReplyPace {
 public:
  static constexpr double kSegmentBytes = 4096;  // this many reply bytes count as one more segment
  static constexpr Nanos kSlot = std::chrono::seconds(1);
  static constexpr Nanos kLook = Millis(250);  // interval of the check while all are watched

  // `replies_max`: segments per second.
  explicit ReplyPace(double replies_max) : replies_max_(replies_max) {}

  // Call it often, with the time since the epoch and the totals so far. Returns the new watch;
  // nothing: no change (initially all are watched).
  std::optional<ReplyWatch> next(std::int64_t now_ns, const RepliesSeen& seen);

 private:
  double since_mark(const RepliesSeen& seen) const;
  void mark(std::int64_t now_ns, const RepliesSeen& seen);
  std::optional<ReplyWatch> leave_all(std::int64_t now_ns, const RepliesSeen& seen);
  std::optional<ReplyWatch> next_part(std::int64_t now_ns, const RepliesSeen& seen);

  double replies_max_;
  std::optional<std::int64_t> mark_ns_;  // start of the count: of an interval, or of a round
  RepliesSeen mark_;
  std::int64_t slot_ns_ = 0;      // start of the slot
  std::optional<unsigned> part_;  // the watched part; nothing: all
};

}  // namespace heatsink::capture
