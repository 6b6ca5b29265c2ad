// SPDX-License-Identifier: Apache-2.0
// Calculates the highest possible rate of a key that is not listed.
#pragma once

#include <optional>
#include <vector>

#include "heatsink/detect/selector.h"
#include "heatsink/detect/summary.h"

namespace heatsink::detect {

// The highest possible accesses per second of a key that is missing in `shown`, from `node`, the
// window of all keys: the key is counted but cold, or not tracked. Nothing if the window counts
// something other than requests, or has not begun. O((keys + shown) x log shown).
std::optional<double> absent_max(const Summary& node, const std::vector<Verdict>& shown);

}  // namespace heatsink::detect
