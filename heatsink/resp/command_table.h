// SPDX-License-Identifier: Apache-2.0
// Holds the table of all commands: from the server's description, or that of Redis 7.0.
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

// Immutable: any number of threads may read it. Copies share the content.
class CommandTable {
 public:
  // The compiled-in table of Redis 7.0, for servers that forbid COMMAND. Shared, never freed.
  static const CommandTable& built_in();

  // From the reply to COMMAND (Redis 2.8.13 .. 8, Valkey; RESP2 or RESP3). Commands without key
  // specs (servers before 7.0) take them from built_in(), with its subcommands and the flags that
  // old servers lack (kBlocking, ...); if built_in() does not know the name, they count as a
  // module's. Malformed rows are left out, so that their commands count as unknown. Errors:
  // kPermission if the server refuses, kProtocol if the reply is not a list or has no valid row,
  // kOutOfRange above 8192 rows.
  static Result<CommandTable> from_reply(const Value& reply);

  // The command named by args[0] (in a container, with args[1]), ignoring case; null if unknown.
  // For an unknown or missing subcommand, the container itself. No allocation; REQUIRES args not
  // empty. Cost: one hash of the name (two in a container). The pointer is valid while a copy of
  // the table exists.
  const Command* find(std::span<const std::string_view> args) const;
  const Command* find_name(std::string_view full_name) const;  // "get", "client|id"

  // In the server's order, each container before its subcommands.
  std::span<const Command> commands() const;
  std::size_t size() const;  // including subcommands

 private:
  struct Index;
  explicit CommandTable(std::vector<Command> commands);

  std::shared_ptr<const Index> index_;
};

}  // namespace heatsink::resp
