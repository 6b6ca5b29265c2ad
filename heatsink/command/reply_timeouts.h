// SPDX-License-Identifier: Apache-2.0
// Decides when a server that owes replies on a connection is considered dead.
#pragma once

#include <algorithm>

#include "heatsink/base/clock.h"

namespace heatsink::proxy {

// Time is an argument. Bytes alone prove nothing: a push, or more of an endless line, brings the
// owed reply no closer. Two bounds: a connection without progress for `limit` is silent, and the
// oldest command must be answered completely within kOldestFactor limits, however small the steps
// are.
class ReplyTimeouts {
 public:
  static constexpr int kOldestFactor = 10;

  // A command was sent while no other was in flight.
  void command_sent(TimePoint now) { step_at_ = std::max(step_at_, now); }
  // The owed reply made progress: not only more bytes of one line.
  void progress(TimePoint now) { step_at_ = now; }

  // `oldest_sent_at`: when the oldest unanswered command was sent.
  bool is_silent(TimePoint now, Nanos limit) const { return now - step_at_ > limit; }
  static bool is_too_old(TimePoint oldest_sent_at, TimePoint now, Nanos limit) {
    return now - oldest_sent_at > limit * kOldestFactor;
  }

 private:
  TimePoint step_at_{};
};

}  // namespace heatsink::proxy
