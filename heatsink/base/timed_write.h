// SPDX-License-Identifier: Apache-2.0
// Writes a text for a reader, but gives up if it is not read in time.
#pragma once

#include <string_view>

#include "heatsink/base/clock.h"

namespace heatsink {

// Whether the descriptor accepted all of the text. Gives up after `limit` without progress: a pipe
// is full, a terminal has stopped. Safe in a signal handler.
bool write_within(int fd, std::string_view text, Millis limit) noexcept;

}  // namespace heatsink
