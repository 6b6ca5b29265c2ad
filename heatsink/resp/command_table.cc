// SPDX-License-Identifier: Apache-2.0
#include "heatsink/resp/command_table.h"

#include <cassert>
#include <utility>

#include "heatsink/resp/builtin_commands.h"
#include "heatsink/resp/command_index.h"
#include "heatsink/resp/command_reply.h"
#include "heatsink/resp/key_rule.h"

namespace heatsink::resp {

struct CommandTable::Index : CommandIndex {
  using CommandIndex::CommandIndex;
};

namespace {

// Flags that were introduced in 6.0 to 7.0: older servers do not set them on commands with these
// properties.
constexpr std::uint32_t kNewFlags = kBlocking | kNoAuth | kMayReplicate | kAllowBusy |
                                    kNoAsyncLoading | kNoMulti | kNoMandatoryKeys |
                                    kNondeterministicOutput;

// Completes a row of a server before 7.0 from `known`, the row of 7.0.
void complete_old_row(Command& row, const Command& known) {
  row.flags |= known.flags & kNewFlags;
  row.first_key = known.first_key;  // before 7.0 a container had its subcommands' triple
  row.last_key = known.last_key;
  row.key_step = known.key_step;
  row.key_specs = known.key_specs;
  row.is_container = known.is_container;
}

std::vector<Command> complete_old_reply(std::vector<Command> rows, const CommandTable& built_in) {
  std::vector<Command> completed;
  for (Command& row : rows) {
    const Command* known = built_in.find_name(row.name);
    if (known == nullptr) row.flags |= kModule;
    if (known != nullptr) complete_old_row(row, *known);
    completed.push_back(std::move(row));
    if (known == nullptr || !known->is_container) continue;
    const Command* const end = built_in.commands().data() + built_in.size();
    for (const Command* sub = known + 1; sub < end && sub->name.starts_with(known->name + "|");
         ++sub) {
      completed.push_back(*sub);
    }
  }
  return completed;
}

}  // namespace

CommandTable::CommandTable(std::vector<Command> commands) {
  for (Command& command : commands) settle_key_rule(command);
  index_ = std::make_shared<const Index>(std::move(commands));
}

const CommandTable& CommandTable::built_in() {
  static const CommandTable* const table = [] {
    Result<CommandReply> reply = read_command_reply(built_in_command_reply());
    assert(reply.ok());
    return new CommandTable(std::move(reply->commands));
  }();
  return *table;
}

Result<CommandTable> CommandTable::from_reply(const Value& reply) {
  Result<CommandReply> read = read_command_reply(reply);
  if (!read.ok()) return read.error();
  std::vector<Command>& commands = read->commands;
  if (!read->has_key_specs) commands = complete_old_reply(std::move(commands), built_in());
  return CommandTable(std::move(commands));
}

const Command* CommandTable::find(std::span<const std::string_view> args) const {
  assert(!args.empty());
  const Command* const command = index_->find(args[0], nullptr);
  if (command == nullptr || !command->is_container || args.size() < 2) return command;
  const Command* const sub = index_->find(args[1], command);
  return sub != nullptr ? sub : command;
}

const Command* CommandTable::find_name(std::string_view full_name) const {
  const std::size_t bar = full_name.find('|');
  const Command* const command = index_->find(full_name.substr(0, bar), nullptr);
  if (command == nullptr || bar == std::string_view::npos) return command;
  return index_->find(full_name.substr(bar + 1), command);
}

std::span<const Command> CommandTable::commands() const { return index_->commands(); }

std::size_t CommandTable::size() const { return index_->commands().size(); }

}  // namespace heatsink::resp
