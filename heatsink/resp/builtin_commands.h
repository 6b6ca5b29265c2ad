// SPDX-License-Identifier: Apache-2.0
// Inside resp: provides the command table that is compiled in.
#pragma once

#include "heatsink/resp/value.h"

namespace heatsink::resp {

// The reply of redis-server 7.0.15 to COMMAND; the build makes it from
// spec/commands/redis-7.0.15.jsonl. Takes about 1 ms: parse it once.
Value built_in_command_reply();

}  // namespace heatsink::resp
