// SPDX-License-Identifier: Apache-2.0
// Writing what a person should read, without waiting for ever for a person who does not.
#pragma once

#include <string_view>

#include "heatsink/base/clock.h"

namespace heatsink {

// Whether the descriptor took all of the text. `limit` is how long it may take none of it: a pipe
// that is full, a terminal that stands still. Safe in a signal handler.
bool write_within(int fd, std::string_view text, Millis limit) noexcept;

}  // namespace heatsink
