// SPDX-License-Identifier: Apache-2.0
// How a key's accesses were answered, where the source sees replies.
#pragma once

#include <optional>

#include "heatsink/base/clock.h"

namespace heatsink::observe {

// Of those accesses whose reply is known for certain; a share of none is 0.
struct KeyAnswers {
  double absent_share = 0;                         // of its reads: those that found no such key
  std::optional<Nanos> latency_mean, latency_p99;  // of commands with it; nothing: not known
};

}  // namespace heatsink::observe
