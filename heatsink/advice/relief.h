// SPDX-License-Identifier: Apache-2.0
// What can be done about a hot key, and what is said of each way: those of docs/guides/relief.md,
// and some that are the deployment's own.
#pragma once

#include <cstdint>
#include <string>

#include "heatsink/advice/effects.h"
#include "heatsink/advice/lines.h"

namespace heatsink::advice {

enum class Relief : std::uint8_t {
  kCoherentCopies,
  kWarming,
  kLibrary,
  kOneReadAtExpiry,
  kStaleWhileError,
  kGatheredWrites,
  kStaleReads,
  kLimit,
  kClientLimit,
  kLeases,
  kWindowStatistics,
  kSlots,
  kAgingCopies,
  kReplicaReads,
  kSplit
};
const char* to_string(Relief relief);  // "local copies", "gathered writes", "replica reads" ...

// Whether it refuses requests: it helps the node, not those who are refused.
constexpr bool refuses(Relief relief) {
  return relief == Relief::kLimit || relief == Relief::kClientLimit;
}

struct Remedy {
  Relief relief;
  Effect effect;      // of what is in force: what it takes off; else what it would, of what is left
  bool done = false;  // in force
  bool helps = false;  // it would, and is not in force
  std::string text;    // what it would do, at what price; or why it does not help. One line
  Lines lines{};       // to be pasted; empty: there is nothing to do
};

}  // namespace heatsink::advice
