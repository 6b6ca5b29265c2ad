// SPDX-License-Identifier: Apache-2.0
#include "heatsink/resp/command_table.h"

#include <cassert>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "heatsink/resp/command.h"
#include "heatsink/resp/command_index.h"
#include "heatsink/resp/command_reply.h"
#include "heatsink/resp/value.h"

namespace heatsink::resp {
namespace {

struct NamedRule {
  std::string_view name;
  KeyPositions rule;
};

// Commands whose specs and flags are misleading or incomplete.
constexpr NamedRule kNamedRules[] = {
    {"sort", KeyPositions::kSort},
    {"sort_ro", KeyPositions::kSort},
    {"migrate", KeyPositions::kMigrate},
    {"georadius", KeyPositions::kGeoRadius},
    {"georadiusbymember", KeyPositions::kGeoRadius},
    {"bitfield", KeyPositions::kBitField},
    {"xread", KeyPositions::kStreams},
    {"xreadgroup", KeyPositions::kStreams},
    {"fcall", KeyPositions::kFunction},
    // Flagged write only because replicas get them too; they change code, not values.
    {"function|delete", KeyPositions::kNone},
    {"function|flush", KeyPositions::kNone},
    {"function|load", KeyPositions::kNone},
    {"function|restore", KeyPositions::kNone},
    // Not flagged write, but afterwards the server may have other data, or keys may be elsewhere.
    {"debug", KeyPositions::kAny},
    {"failover", KeyPositions::kAny},
    {"replicaof", KeyPositions::kAny},
    {"slaveof", KeyPositions::kAny},
    {"module|load", KeyPositions::kAny},
    {"module|loadex", KeyPositions::kAny},
    {"module|unload", KeyPositions::kAny},
    {"cluster|addslots", KeyPositions::kAny},
    {"cluster|addslotsrange", KeyPositions::kAny},
    {"cluster|delslots", KeyPositions::kAny},
    {"cluster|delslotsrange", KeyPositions::kAny},
    {"cluster|failover", KeyPositions::kAny},
    {"cluster|flushslots", KeyPositions::kAny},
    {"cluster|migrateslots", KeyPositions::kAny},  // Valkey 9
    {"cluster|migration", KeyPositions::kAny},     // Redis 8.4
    {"cluster|replicate", KeyPositions::kAny},
    {"cluster|reset", KeyPositions::kAny},
    {"cluster|setslot", KeyPositions::kAny},
};

// For a module command without a spec the server makes one itself, which says "may do anything":
// the readonly flag is more precise.
void trust_readonly_module(Command& command) {
  if (!command.has(kModule) || !command.has(kReadonly)) return;
  for (KeySpec& spec : command.key_specs) spec.writes = false;
}

// Servers before 7.0 have no specs; of movable keys they tell only that there are some.
void add_spec_of_triple(Command& command) {
  const bool has_triple = command.first_key > 0;
  if (!command.key_specs.empty() || !(has_triple || command.has(kMovableKeys))) return;
  KeySpec& spec = command.key_specs.emplace_back();
  spec.reads = true;
  spec.writes = !command.has(kReadonly);
  spec.incomplete = command.has(kMovableKeys);
  if (!has_triple) return;
  spec.begin = KeySpec::Begin::kIndex;
  spec.index = command.first_key;
  spec.find = KeySpec::Find::kRange;
  spec.last_key = command.last_key >= 0 ? command.last_key - command.first_key : command.last_key;
  spec.key_step = command.key_step;
}

bool is_one_key(const Command& command) {
  if (command.key_specs.size() != 1 || command.has(kNoMandatoryKeys)) return false;
  const KeySpec& spec = command.key_specs.front();
  return spec.begin == KeySpec::Begin::kIndex && spec.index > 0 &&
         spec.find == KeySpec::Find::kRange && spec.last_key == 0 && spec.key_step > 0 &&
         !spec.not_key && !spec.incomplete;
}

// Sets `key_positions`, and makes the legacy triple and the specs agree: a command without specs
// gets one from its triple, and a command with a kOne... rule gets the key's position as first_key.
// REQUIRES name, flags, triple, key_specs and is_container to be final.
void decide_key_positions(Command& command) {
  trust_readonly_module(command);
  add_spec_of_triple(command);
  for (const auto& [name, rule] : kNamedRules) {
    if (command.name == name) {
      command.key_positions = rule;
      return;
    }
  }
  if (is_one_key(command)) {
    const KeySpec& spec = command.key_specs.front();
    command.first_key = spec.index;
    command.key_positions = spec.writes ? KeyPositions::kOneWrite : KeyPositions::kOneRead;
  } else if (command.has(kModule) && command.has(kNoMandatoryKeys) && !command.has(kReadonly)) {
    command.key_positions = KeyPositions::kFunction;
  }
}

constexpr std::string_view kRows[] = {
#include "builtin_commands.inc"
};

// The reply of redis-server 7.0.15 to COMMAND; the build makes it from
// spec/commands/redis-7.0.15.jsonl. Takes about 1 ms: parse it once.
Value built_in_command_reply() {
  std::string bytes = "*" + std::to_string(std::size(kRows)) + "\r\n";
  for (const std::string_view row : kRows) bytes += row;
  Value reply;
  std::size_t consumed = 0;
  [[maybe_unused]] const ValueStatus status = parse_value(bytes, reply, consumed);
  assert(status == ValueStatus::kValue && consumed == bytes.size());
  return reply;
}

}  // namespace

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
  for (Command& command : commands) decide_key_positions(command);
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
