// SPDX-License-Identifier: Apache-2.0
// Runs a program for alerts, with the message on its standard input. Internal to the room.
#pragma once

#include <atomic>
#include <string>

#include "heatsink/alerts/delivery.h"
#include "heatsink/base/clock.h"

namespace heatsink::alerts {

// `command`: a path, and arguments separated by spaces; no shell reads it. Waits for its end, and
// kills it and its process group after `limit` or when `stop` is set. Status 0 is success, any
// other may be tried again. `input` of at most 60 KB: it must fit into a pipe.
Outcome run_command(const std::string& command, const std::string& input, Nanos limit,
                    const std::atomic<bool>& stop);

}  // namespace heatsink::alerts
