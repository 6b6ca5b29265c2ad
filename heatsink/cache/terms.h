// SPDX-License-Identifier: Apache-2.0
// What is promised of a key's copies (docs/design/coherence.md).
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

struct Terms {
  Level level = Level::kKey;
  Nanos max_staleness = std::chrono::seconds(1);  // of kKey and kSession
  friend bool operator==(const Terms&, const Terms&) = default;
};

}  // namespace heatsink::cache
