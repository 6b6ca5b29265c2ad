// SPDX-License-Identifier: Apache-2.0
// Calculates the highest rate that a key can have that is not listed.
#pragma once

#include <optional>
#include <vector>

#include "heatsink/detect/selector.h"
#include "heatsink/detect/summary.h"

namespace heatsink::detect {

// Accesses per second of a key that is in `node`, the window of all keys, but not in `shown`: it is
// counted and cold, or not even counted. Nothing where the window counts something else, or has not
// begun. O((keys + shown) x log shown).
std::optional<double> absent_max(const Summary& node, const std::vector<Verdict>& shown);

}  // namespace heatsink::detect
