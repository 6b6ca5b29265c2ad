// SPDX-License-Identifier: Apache-2.0
// Decides when a server that owes replies on one connection is taken for gone.
#pragma once

#include <algorithm>

#include "heatsink/base/clock.h"

namespace heatsink::proxy {

// Time is an argument. Bytes alone prove nothing: a push, or more of a line without an end, is no
// step towards the reply that is owed. Two bounds: without any step for `limit` it is silent, and
// the oldest command must be answered, to its end, within kOldestFactor limits, however small the
// steps are.
class ReplyTimeouts {
 public:
  static constexpr int kOldestFactor = 10;

  // A command was sent while none was on its way.
  void begins(TimePoint now) { step_at_ = std::max(step_at_, now); }
  // Bytes of the reply that is owed now, and not only more of a line.
  void steps(TimePoint now) { step_at_ = now; }

  // `oldest_sent_at`: of the command whose reply is owed now.
  bool is_silent(TimePoint now, Nanos limit) const { return now - step_at_ > limit; }
  static bool is_too_old(TimePoint oldest_sent_at, TimePoint now, Nanos limit) {
    return now - oldest_sent_at > limit * kOldestFactor;
  }

 private:
  TimePoint step_at_{};
};

}  // namespace heatsink::proxy
