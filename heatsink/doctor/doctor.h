// SPDX-License-Identifier: Apache-2.0
// doctor: checks a deployment against what heatsink needs, and says what to mend.
// Start with checks.h: pure functions from facts to findings; probe.h and machine_facts.h collect
// facts.
#pragma once

#include "heatsink/doctor/checks.h"         // IWYU pragma: export
#include "heatsink/doctor/facts.h"          // IWYU pragma: export
#include "heatsink/doctor/find_master.h"    // IWYU pragma: export
#include "heatsink/doctor/finding.h"        // IWYU pragma: export
#include "heatsink/doctor/findings_json.h"  // IWYU pragma: export
#include "heatsink/doctor/machine_facts.h"  // IWYU pragma: export
#include "heatsink/doctor/probe.h"          // IWYU pragma: export
#include "heatsink/doctor/watch.h"          // IWYU pragma: export
