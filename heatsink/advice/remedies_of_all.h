// SPDX-License-Identifier: Apache-2.0
// Considers each relief for one key that concerns reads and writes: limits, other nodes.
#pragma once

#include "heatsink/advice/relief.h"
#include "heatsink/advice/remedies.h"

namespace heatsink::advice {

Remedy consider_stale_reads(const Case& of);
Remedy consider_limit(const Case& of);
Remedy consider_client_limit(const Case& of);
Remedy consider_slots(const Case& of);

}  // namespace heatsink::advice
