// SPDX-License-Identifier: Apache-2.0
// Delays replies that stand before others that the server still owes, so that one send has both.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "heatsink/base/clock.h"

namespace heatsink::proxy {

// A client sends GET a, GET b in one batch: `a` has a copy, `b` goes to the server. Sending the hit
// at once costs a system call here and one at the client, which waits for `b` anyway, as a rule. So
// the hit waits for the reply of `b`, but not for long, because a client may pass each reply on as
// it comes: it goes out two turns and kShortest later, and after kLongest at the latest. A server
// that is not busy answers long before (docs/decisions/0087).
//
// One worker's thread. Each call is O(1), amortised.
class HeldOutputs {
 public:
  static constexpr Nanos kShortest = std::chrono::milliseconds(1);
  static constexpr Nanos kLongest = std::chrono::milliseconds(2);
  static constexpr std::size_t kBytesMax = 16 * 1024;  // longer output goes out at once

  // The output of `session` is held from now on. `now` is the time of the turn.
  void hold(std::uint64_t session, TimePoint now) { held_.push_back({session, now, turns_}); }
  bool empty() const { return held_.empty(); }

  // At the end of a turn: calls send(session, since) for each output that has been held long
  // enough. It may have gone out meanwhile: then the session holds none, or one since another time.
  template <class Send>
  void end_turn(TimePoint now, Send send) {
    ++turns_;
    std::size_t due = 0;
    while (due < held_.size() && is_due(held_[due], now)) ++due;
    if (due == 0) return;
    sending_.assign(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(due));
    held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(due));
    for (const Held& each : sending_) send(each.session, each.since);
  }

 private:
  struct Held {
    std::uint64_t session;
    TimePoint since;
    std::uint64_t turn;
  };

  bool is_due(const Held& held, TimePoint now) const {
    const Nanos age = now - held.since;
    return age >= kLongest || (turns_ - held.turn > 2 && age >= kShortest);
  }

  std::uint64_t turns_ = 0;
  std::vector<Held> held_;  // by time
  std::vector<Held> sending_;
};

}  // namespace heatsink::proxy
