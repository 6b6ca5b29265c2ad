// SPDX-License-Identifier: Apache-2.0
// Holds the server's commands, and what the proxy knows of each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "heatsink/command/command.h"
#include "heatsink/resp/resp.h"

namespace heatsink::proxy {

// Gives commands small numbers by name: a name keeps its number when the server's table changes.
// One per worker; not thread-safe. Its size is bounded by the names in the command tables.
class CommandNumbers {
 public:
  static constexpr std::size_t kCommandsMax = 16'384;

  // `name`: as in the command table: "get", "client|id". All names beyond the limit share the last
  // number.
  std::uint16_t number(std::string_view name);
  std::string name(std::uint16_t number) const;  // "GET", "CLIENT ID"; "others" for the last

 private:
  std::unordered_map<std::string, std::uint16_t> numbers_;
  std::vector<std::string> names_;
};

// Holds the built-in commands until the server has sent its own. One worker's thread. Finding a
// command costs one hash of its name, and its facts one more memory access; only set() allocates.
class KnownCommands {
 public:
  // `numbers` outlives it; null: accesses carry no command numbers.
  explicit KnownCommands(CommandNumbers* numbers);
  KnownCommands(const KnownCommands&) = delete;

  // Replaces the commands; earlier views and pointers become invalid.
  void set(std::shared_ptr<const resp::CommandTable> table);

  // Null: an unknown command. REQUIRES args.
  const resp::Command* find(std::span<const std::string_view> args) const {
    return table_->find(args);
  }
  const CommandFacts& facts(const resp::Command& command) const {  // REQUIRES that find() gave it
    return facts_[static_cast<std::size_t>(&command - first_)];
  }
  const CommandFacts* get() const { return get_; }  // facts of GET; null: the server has no GET
  const resp::Command& get_command() const { return first_[get_sized_as_ - 1U]; }  // REQUIRES get()
  const resp::Command* set_command() const { return set_command_; }  // null: the server has no SET

  // CommandFacts::sized_as of GET and of MGET; 0: the server has none.
  std::uint16_t get_sized_as() const { return get_sized_as_; }
  std::uint16_t mget_sized_as() const { return mget_sized_as_; }

 private:
  CommandNumbers* const numbers_;
  std::shared_ptr<const resp::CommandTable> table_;
  const resp::Command* first_ = nullptr;  // of table_
  std::vector<CommandFacts> facts_;       // same order as the commands in table_
  const CommandFacts* get_ = nullptr;
  const resp::Command* set_command_ = nullptr;
  std::uint16_t get_sized_as_ = 0, mget_sized_as_ = 0;
};

}  // namespace heatsink::proxy
