// SPDX-License-Identifier: Apache-2.0
// Lists the possible reliefs of a hot key: those of docs/guides/relief.md, and some that the
// deployment must provide.
#pragma once

#include <cstdint>
#include <string>

#include "heatsink/advice/effects.h"
#include "heatsink/advice/lines.h"

namespace heatsink::advice {

enum class ReliefKind : std::uint8_t {
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
const char* to_string(ReliefKind relief);  // "local copies", "gathered writes", "replica reads" ...

// Whether it refuses requests: it helps the node, but not the clients that are refused.
constexpr bool refuses(ReliefKind relief) {
  return relief == ReliefKind::kLimit || relief == ReliefKind::kClientLimit;
}

struct Remedy {
  ReliefKind relief;
  Effect effect;       // in force: its present effect; else its effect on the remaining load
  bool done = false;   // in force
  bool helps = false;  // it would help, and is not in force
  std::string text;    // its effect and price, or why it does not help. One line
  Lines lines{};       // to be pasted; empty: nothing to do
};

}  // namespace heatsink::advice
