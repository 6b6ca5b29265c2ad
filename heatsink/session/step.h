// SPDX-License-Identifier: Apache-2.0
// Says how far a session and its parts came with a request.
#pragma once

#include <cstdint>

#include "heatsink/relief/relief.h"

namespace heatsink::proxy {

enum class Step : std::uint8_t {
  kDone,   // it was sent, or its reply is queued
  kStall,  // the session looks at the same request again later
};

struct Forwarded {
  Step step = Step::kDone;
  bool is_sent = false;
};

inline Step step_of(Outcome outcome) {  // REQUIRES an outcome other than kPass
  return outcome == Outcome::kAnswered ? Step::kDone : Step::kStall;
}

}  // namespace heatsink::proxy
