// SPDX-License-Identifier: Apache-2.0
// Inside resp: the command table compiled in.
#pragma once

#include "heatsink/resp/value.h"

namespace heatsink::resp {

// What redis-server 7.0.15 replies to COMMAND, made from spec/commands/redis-7.0.15.jsonl by the
// build. About 1 ms; meant to be read once.
Value built_in_command_reply();

}  // namespace heatsink::resp
