// SPDX-License-Identifier: Apache-2.0
// Translates ClientOptions into the options of detection.
#pragma once

#include <cstddef>
#include <cstdint>

#include "heatsink/client/options.h"
#include "heatsink/detect/detect.h"

namespace heatsink::client {

// The part of a window in which a key that becomes hot wakes the keeper up.
inline constexpr double kBurst = 0.25;

// With the thresholds of one of detection.fleet-size processes.
detect::RuleSet rules_of(const ClientOptions& options);
detect::SelectorOptions selector_options(const ClientOptions& options,
                                         const detect::RuleSet& rules);
// For all shards together.
detect::RecorderOptions recorder_options(const ClientOptions& options, std::uint64_t seed,
                                         const detect::RuleSet& rules);
std::size_t shards_of(const ClientOptions& options);
// The count below which a shard's summary leaves a key out.
detect::CountLevel floor_of(const ClientOptions& options, const detect::RuleSet& rules);

}  // namespace heatsink::client
