// SPDX-License-Identifier: Apache-2.0
// Considers each relief of reads for one key: whether it is in force, would help or would not, and
// why.
#pragma once

#include <string>

#include "heatsink/advice/relief.h"
#include "heatsink/advice/remedies.h"
#include "heatsink/base/clock.h"

namespace heatsink::advice {

// Pure, thread-safe, as all considerations.
Remedy consider_copies(const Case& of);
Remedy consider_warming(const Case& of);
Remedy consider_library(const Case& of);
Remedy consider_expiry(const Case& of);
Remedy consider_stale_while_error(const Case& of);
Remedy consider_copies_by_age(const Case& of, Nanos age);
Remedy consider_replicas(const Case& of);
Remedy consider_splitting(const Case& of);

// Why no process can hold a copy; "" if it can.
std::string why_no_copies(const Case& of);

}  // namespace heatsink::advice
