// SPDX-License-Identifier: Apache-2.0
// Chooses which keys an instance reports, and which ones a merger lists.
#pragma once

#include <cstddef>
#include <span>

#include "heatsink/detect/summary.h"
#include "heatsink/fleet/message.h"

namespace heatsink::fleet {

// The busiest keys of each window, and what this instance knows of each key of `list` (null: no
// list yet): so a key that cools down everywhere is proven to be cool. Without commands, clients
// and templates. Keys whose whole name is unknown are left out. `windows`: keys by high, falling.
Message make_report(std::span<const detect::Summary> windows, const Message* list);

// Keeps the keys with the largest proven counts. (detect::cut() goes by the upper bounds, and among
// many instances the bounds of keys that few of them list are the largest.) Raises absent_max, so
// the bounds stay true.
void keep_proven(detect::Summary& summary, std::size_t keys_max);

}  // namespace heatsink::fleet
