// SPDX-License-Identifier: Apache-2.0
// Chooses which keys an instance reports.
#pragma once

#include <span>

#include "heatsink/detect/summary.h"
#include "heatsink/fleet/message.h"

namespace heatsink::fleet {

// The busiest keys of each window, and what this instance knows of each key of `list` (null: no
// list yet): so a key that cools down everywhere is proven to be cool. Without commands, clients
// and templates. Keys whose whole name is unknown are left out. `windows`: keys by high, falling.
Message make_report(std::span<const detect::Summary> windows, const Message* list);

}  // namespace heatsink::fleet
