// SPDX-License-Identifier: Apache-2.0
// Everything that is asked of a history, and what it measured.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/consistency/op.h"
#include "tests/consistency/violation.h"

namespace heatsink::consistency {

struct Verdict {
  std::size_t operations = 0;
  std::size_t reads = 0;         // through a proxy, that a copy may have answered
  std::size_t reads_behind = 0;  // of them: begun after something newer was certainly there
  Nanos behind_median{0}, behind_p99{0}, behind_max{0};  // how much later, of those
  // The smallest d for which reads moved back by d make the history linearizable, to the
  // microsecond; negative: none up to a minute does.
  Nanos staleness{0};
  std::vector<Violation> violations;  // of each key and each promise the first few
};

// What was promised of the keys; each level asks for what those before it do, and more.
enum class Level : std::uint8_t {
  kTtl,      // nothing but the bound
  kKey,      // own writes, no way back, barriers
  kSession,  // order across keys
};

// The promises of docs/design/coherence.md. `bound`: how old a copy may be; 0: all writers go
// through the one proxy, and every key must be linearizable. O(n log n) for n operations.
Verdict judge(const History& history, Nanos bound, Level level = Level::kKey);

// Lines for a person: counts, what was measured beside the bound, and the violations.
std::string to_text(const Verdict& verdict, Nanos bound);

}  // namespace heatsink::consistency
