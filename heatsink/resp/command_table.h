// SPDX-License-Identifier: Apache-2.0
// The table of all commands: as the server describes them, or as Redis 7.0 does.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "heatsink/base/result.h"
#include "heatsink/resp/command.h"     // IWYU pragma: export
#include "heatsink/resp/key_finder.h"  // IWYU pragma: export
#include "heatsink/resp/value.h"

namespace heatsink::resp {

// Immutable once built: any number of threads may read one. A copy shares the content.
class CommandTable {
 public:
  // The table of Redis 7.0 compiled in, for servers that forbid COMMAND. Shared, never freed.
  static const CommandTable& built_in();

  // From the reply to COMMAND (Redis 2.8.13 .. 8, Valkey; RESP2 or RESP3). Commands that the server
  // lists without key specs (before 7.0) take those of built_in(), its subcommands, and the flags
  // that old servers did not have (kBlocking, ...), where it knows the name; where it does not,
  // they count as a module's. Rows that are not as documented are left out, so that the command
  // counts as unknown; an error if the reply is the server's refusal (kPermission), no list or
  // empty of sound rows (kProtocol), or past 8192 rows (kOutOfRange).
  static Result<CommandTable> from_reply(const Value& reply);

  // The command that args[0] (and, in a container, args[1]) names, in any case; null if unknown. A
  // container whose subcommand is unknown or missing gives the container itself. No allocation;
  // REQUIRES args not empty. Cost: one hash of the name (two in a container). The pointer lives as
  // long as any copy of the table.
  const Command* find(std::span<const std::string_view> args) const;
  const Command* find_name(std::string_view full_name) const;  // "get", "client|id"

  // In the server's order, each container before its subcommands.
  std::span<const Command> commands() const;
  std::size_t size() const;  // with the subcommands

 private:
  struct Index;
  explicit CommandTable(std::vector<Command> commands);

  std::shared_ptr<const Index> index_;
};

}  // namespace heatsink::resp
