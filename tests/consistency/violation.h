// SPDX-License-Identifier: Apache-2.0
// A broken promise, and the few operations that prove it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/consistency/op.h"

namespace heatsink::consistency {

enum class Promise : std::uint8_t {
  kWritten,       // what is read was written, and not before it was
  kRegister,      // the key is one register: its values follow one another, none comes back
  kRemoval,       // a key that is missing was removed
  kExpiry,        // nothing is read after its end
  kSession,       // a session reads its own writes, and never goes back
  kNoWayBack,     // what one client of a proxy was shown, no client of it reads behind
  kSessionOrder,  // nor does a session, across keys, read behind anything it was told
  kBarrier,       // nor anybody behind what was written before a barrier was asked for
  kSum,           // a counter shows what was added before, nothing else, and never shrinks
};

std::string to_string(Promise promise);

struct Violation {
  Promise promise;
  std::string sentence;
  std::vector<Op> excerpt;  // in the order of their invocations once printed
};

// The sentence and the operations, one a line, with times in ms from the first of them.
std::string to_text(const Violation& violation);

}  // namespace heatsink::consistency
