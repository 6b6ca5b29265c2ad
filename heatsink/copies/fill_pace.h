// SPDX-License-Identifier: Apache-2.0
// Says whether a worker's reads want fills so often that a fill soon finds company.
#pragma once

#include <cstdint>

#include "heatsink/base/clock.h"

namespace heatsink::copies {

// A fill that a client waits for costs two wake-ups of its own: the keeper's and the server's. One
// that is queued shares them with all fills of `span`, and the read that wants it goes to the
// server beside other reads. So where fills come often, queueing takes a half to a third of the
// CPU time of both (docs/decisions/0127). One thread; no clock.
class FillPace {
 public:
  static constexpr std::uint32_t kOften = 4;  // fills in a span

  explicit FillPace(Nanos span) : span_(span) {}

  // A read wants a fill now. True: as many came in the span before, or have come in this one, so
  // queueing finds company. Time may stand still, but not go back.
  bool note(TimePoint now) {
    const std::int64_t number = now.time_since_epoch() / span_;
    if (number != number_) {
      before_ = number == number_ + 1 ? count_ : 0;
      number_ = number;
      count_ = 0;
    }
    ++count_;
    return before_ >= kOften || count_ > kOften;
  }

 private:
  Nanos span_;
  std::int64_t number_ = 0;               // of the present span
  std::uint32_t count_ = 0, before_ = 0;  // fills in the present span, and in the one before
};

}  // namespace heatsink::copies
