// SPDX-License-Identifier: Apache-2.0
// Writes the reason of a verdict as a sentence with the figures of the moment.
#pragma once

#include <string>

#include "heatsink/detect/classify.h"
#include "heatsink/detect/selector_options.h"

namespace heatsink::detect {

// For example "3412/s >= hot-qps 3000 (8.1 % of traffic)"; for a named rule followed by ", rule
// product:*". One line of valid UTF-8.
std::string sentence(Cause cause, const Rule& rule, const SelectorOptions& options,
                     const Evidence& evidence);

// The reason of a verdict that stands since an earlier moment, by the figures of now: where they do
// not show the cause any more (a burst is over, a rate has risen again), it says what they show.
std::string sentence_now(const Standing& standing, const Rule& rule, const SelectorOptions& options,
                         const Evidence& evidence);

}  // namespace heatsink::detect
