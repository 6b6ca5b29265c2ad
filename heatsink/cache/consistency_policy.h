// SPDX-License-Identifier: Apache-2.0
// The consistency that is promised for a key's copies (docs/design/coherence.md).
#pragma once

#include <chrono>
#include <cstdint>

#include "heatsink/base/clock.h"

namespace heatsink::cache {

// Each promises what those before it do, and more.
enum class Level : std::uint8_t {
  kOff,      // no copies: never promoted
  kTtl,      // nothing but the deadline: a copy may be as old as that allows
  kKey,      // the key rule
  kSession,  // the key rule, and nothing older than what the connection has been told
};

struct ConsistencyPolicy {
  Level level = Level::kKey;
  Nanos max_staleness = std::chrono::seconds(1);  // of kKey and kSession
  // Of kKey: how long after its last proof a copy may be served while the server cannot be reached
  // (judge_in_outage()). 0: not at all.
  Nanos stale_while_error{0};
  // Not with the former: a copy that may be served no longer stays until its deadline, for who asks
  // for it all the same (unproven_copy.h). Whoever drops a name then has to raise its fence.
  bool keeps_unproven = false;
  friend bool operator==(const ConsistencyPolicy&, const ConsistencyPolicy&) = default;
};

}  // namespace heatsink::cache
