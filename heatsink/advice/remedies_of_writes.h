// SPDX-License-Identifier: Apache-2.0
// Considers each relief of writes for one key, and of keys that are read in another form than they
// are written.
#pragma once

#include "heatsink/advice/relief.h"
#include "heatsink/advice/remedies.h"

namespace heatsink::advice {

Remedy consider_gathering(const Case& of);
Remedy consider_leases(const Case& of);
Remedy consider_window_statistics(const Case& of);

}  // namespace heatsink::advice
