// SPDX-License-Identifier: Apache-2.0
// Draws configurations that differ in everything that a running proxy can change and that does not
// change what is promised.
#pragma once

#include "heatsink/policy/options.h"
#include "tests/simulation/scheduler.h"

namespace heatsink::simulation {

// `base` with other rules, levels, budgets and intervals, drawn from the scheduler's seed.
// Staleness is at most that of `base`. Has no faults.
policy::ProxyOptions other_configuration(const policy::ProxyOptions& base, Scheduler& random);

}  // namespace heatsink::simulation
