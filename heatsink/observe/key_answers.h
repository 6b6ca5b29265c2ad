// SPDX-License-Identifier: Apache-2.0
// The outcome of a key's accesses, for sources that see replies.
#pragma once

#include <optional>

#include "heatsink/base/clock.h"

namespace heatsink::observe {

// Counts only accesses whose reply is known for certain. The share of no accesses is 0.
struct KeyAnswers {
  double absent_share = 0;                         // of its reads: those that found no key
  std::optional<Nanos> latency_mean, latency_p99;  // of commands on the key; nothing: not known
};

}  // namespace heatsink::observe
