// SPDX-License-Identifier: Apache-2.0
// What to do about a key, in sentences with numbers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heatsink/advice/effects.h"
#include "heatsink/advice/key_traffic.h"
#include "heatsink/base/clock.h"
#include "heatsink/base/units.h"

namespace heatsink::advice {

enum class Relief : std::uint8_t { kCoherentCopies, kAgingCopies, kReplicaReads, kSplit, kLimit };
const char* to_string(Relief relief);  // "local copies", "copies by age", "replica reads" ...

struct Remedy {
  Relief relief;
  Effect effect;
  bool helps = false;
  std::string text;  // what it would do, at what price; or why it does not help. One line
};

struct Advice {
  std::string headline;  // "local copies would take off 97.2 % ..."; "write-hot: none of these ..."
  // Those that help, best first, then the others. A limit is never among the first: it helps the
  // node, not those who are refused.
  std::vector<Remedy> remedies;
};

struct AdviceOptions {
  ServerCosts costs{};
  Nanos lifetime = std::chrono::seconds(10);  // cache.expire-after-write
  Nanos max_staleness = std::chrono::seconds(1);
  Bytes value_bytes_max = kibibytes(256);
  std::vector<Nanos> ages{std::chrono::seconds(1), std::chrono::seconds(10)};  // for copies by age
  double limit_rate = 3000;                                                    // per second
};

// A relief helps when it takes off at least this part of the server time of the key.
inline constexpr double kHelpful = 0.1;

// Pure, thread-safe.
Advice advise(const KeyTraffic& key, const AdviceOptions& options = {});

}  // namespace heatsink::advice
