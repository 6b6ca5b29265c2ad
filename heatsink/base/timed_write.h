// SPDX-License-Identifier: Apache-2.0
// Writes a text that a person should read, but gives up if it is not read in time.
#pragma once

#include <string_view>

#include "heatsink/base/clock.h"

namespace heatsink {

// Whether the descriptor took all of the text. `limit` is how long it may take none of it: a pipe
// that is full, a terminal that stands still. Safe in a signal handler.
bool write_within(int fd, std::string_view text, Millis limit) noexcept;

}  // namespace heatsink
