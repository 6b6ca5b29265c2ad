// SPDX-License-Identifier: Apache-2.0
// Reads the limits, the clock and the configured files of this machine, for the checks.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "heatsink/doctor/facts.h"

namespace heatsink::doctor {

// Takes about 50 ms of CPU time, to watch the clock. Any thread.
MachineFacts look_at_machine(const policy::ProxyOptions& options);

// The share of CPU time that the hypervisor gave to others. `stat`: the text of /proc/stat; 0: not
// known.
double stolen_share(std::string_view stat);

// The share of its periods in which a control group used up its quota. `stat`: its cpu.stat.
double throttled_share(std::string_view stat);

}  // namespace heatsink::doctor
