// SPDX-License-Identifier: Apache-2.0
// Turns the counts of an instance into its report, and the merged list of a fleet into what the
// selector of an instance takes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heatsink/detect/fleet_window.h"
#include "heatsink/detect/measure.h"
#include "heatsink/detect/rules.h"
#include "heatsink/detect/summary.h"
#include "heatsink/fleet/changes.h"
#include "heatsink/fleet/message.h"

namespace heatsink::fleet {

// The busiest keys of each window, and what this instance knows of each key of `list` (null: no
// list yet): so a key that cools down everywhere is proven to be cool. Without commands, clients
// and templates. Keys whose whole name is unknown are left out. `windows`: keys by high, falling.
Message make_report(std::span<const detect::Summary> windows, const Message* list);

// One for each of `measures`, in their order. A measure that the list has not is not known.
std::vector<detect::FleetWindow> windows_of(const Message& list,
                                            std::span<const detect::Measure> measures);

// The change that matters to a fleet (Matters in changes.h) with these rules: each member's part of
// a hot key's count, or of the beginning of a burst. `burst`: as of the selector.
detect::CountLevel matters_by(const detect::RuleSet& rules, double burst,
                              const detect::Measure& measure, std::uint64_t instances);

// For recorders: rounded up to a power of two and at most 256, so that it seldom changes. A key
// with 1/256 of a threshold here is tracked.
std::uint64_t rounded_instances(std::uint64_t instances);

}  // namespace heatsink::fleet
