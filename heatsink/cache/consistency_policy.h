// SPDX-License-Identifier: Apache-2.0
// The consistency that the proxy guarantees for a key's copies (docs/design/coherence.md).
#pragma once

#include <chrono>
#include <cstdint>

#include "heatsink/base/clock.h"

namespace heatsink::cache {

// Each level gives the guarantees of the levels before it, and more.
enum class Level : std::uint8_t {
  kOff,      // no copies: the key is never promoted
  kTtl,      // the deadline alone limits the age of a copy
  kKey,      // the key rule (key_rule.h)
  kSession,  // the key rule; and a client never reads older data than its last reply
};

struct ConsistencyPolicy {
  Level level = Level::kKey;
  Nanos max_staleness = std::chrono::seconds(1);  // for kKey and kSession
  // For kKey: how long after its last proof a copy may be served while the server is unreachable
  // (judge_in_outage()). 0 turns this off.
  Nanos stale_while_error{0};
  // Keeps a copy that the key rule refuses until its deadline, for callers that accept one without
  // proof (unproven_copy.h). The writer of the table must then raise the fence of a name when it
  // drops the name. Cannot be combined with stale_while_error.
  bool keeps_unproven = false;
  friend bool operator==(const ConsistencyPolicy&, const ConsistencyPolicy&) = default;
};

// The masters of a cluster are asked who they are (topology::EpochQuorum) when the last question is
// so old: at least two questions fall within `max_staleness`.
constexpr Nanos epoch_interval(Nanos max_staleness) { return 2 * max_staleness / 5; }

}  // namespace heatsink::cache
