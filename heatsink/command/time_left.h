// SPDX-License-Identifier: Apache-2.0
// Shortens the time-out of a command that waits, so that it can be sent again to another server.
#pragma once

#include <string>
#include <string_view>

#include "heatsink/base/clock.h"

namespace heatsink::proxy {

// `wire`: a command like BLPOP, BLMPOP, XREAD BLOCK or WAIT, in multi-bulk form. Returns the same
// with a time-out that is shorter by `waited`, but not 0, which means for ever and stays. Other
// commands stay as they are. Pure.
std::string with_time_left(std::string_view wire, Nanos waited);

}  // namespace heatsink::proxy
