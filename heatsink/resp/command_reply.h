// SPDX-License-Identifier: Apache-2.0
// Inside resp: reads a server's reply to COMMAND. What a hostile or broken server can say is
// bounded here.
#pragma once

#include <cstddef>
#include <vector>

#include "heatsink/base/result.h"
#include "heatsink/resp/command.h"
#include "heatsink/resp/value.h"

namespace heatsink::resp {

// Redis 8 with its modules has about 700 commands, no name longer than 40 bytes, at most 3 specs
// each.
inline constexpr std::size_t kCommandsMax = 8192;  // with the subcommands
inline constexpr std::size_t kCommandNameBytesMax = 64;
inline constexpr std::size_t kKeySpecsMax = 16;  // per command

struct CommandReply {
  // Each container stands before its subcommands. Names are in lower case, and each occurs once.
  std::vector<Command> commands;
  // The server is 7.0 or later: rows carry key specs, tips and subcommands.
  bool has_key_specs = false;
};

// A row that is not as documented (wrong types, numbers past 32 bits, limits above) is left out,
// and so is a second row of a name: a command without a row counts as unknown, which is always
// safe. An error only if the reply is no list (kPermission if it is the server's error), holds no
// sound row, or more than kCommandsMax.
Result<CommandReply> read_command_reply(const Value& reply);

}  // namespace heatsink::resp
