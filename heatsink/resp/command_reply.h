// SPDX-License-Identifier: Apache-2.0
// Inside resp: parses a server's reply to COMMAND, with limits against a hostile or broken server.
#pragma once

#include <cstddef>
#include <vector>

#include "heatsink/base/result.h"
#include "heatsink/resp/command.h"
#include "heatsink/resp/value.h"

namespace heatsink::resp {

// Redis 8 with its modules has about 700 commands, names of at most 40 bytes, and at most 3 specs
// each.
inline constexpr std::size_t kCommandsMax = 8192;  // including subcommands
inline constexpr std::size_t kCommandNameBytesMax = 64;
inline constexpr std::size_t kKeySpecsMax = 16;  // per command

struct CommandReply {
  // Each container comes before its subcommands. Names are in lower case and unique.
  std::vector<Command> commands;
  // The server is 7.0 or later: rows carry key specs, tips and subcommands.
  bool has_key_specs = false;
};

// Leaves out malformed rows (wrong types, numbers beyond 32 bits, exceeded limits) and second rows
// of a name: a command without a row counts as unknown, which is always safe. An error only if the
// reply is not a list (kPermission if it is the server's error), has no valid row, or more than
// kCommandsMax.
Result<CommandReply> read_command_reply(const Value& reply);

}  // namespace heatsink::resp
