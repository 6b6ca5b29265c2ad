// SPDX-License-Identifier: Apache-2.0
// The commands that the server has, and what the proxy knows of each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "heatsink/proxy/command_facts.h"
#include "heatsink/resp/resp.h"

namespace heatsink::proxy {

class CommandNumbers;

// Built-in commands until the server has told its own. One worker's thread. Finding a command costs
// one hash of its name, its facts one more memory access; nothing is allocated but by set().
class KnownCommands {
 public:
  // `numbers` (null: accesses carry none) outlives it.
  explicit KnownCommands(CommandNumbers* numbers);
  KnownCommands(const KnownCommands&) = delete;

  // From now on these; views and pointers that were given out before end with this call.
  void set(std::shared_ptr<const resp::CommandTable> table);

  // Null: it is unknown. REQUIRES args.
  const resp::Command* find(std::span<const std::string_view> args) const {
    return table_->find(args);
  }
  const CommandFacts& facts(const resp::Command& command) const {  // REQUIRES that find() gave it
    return facts_[static_cast<std::size_t>(&command - first_)];
  }
  const CommandFacts* get() const { return get_; }  // null: the server has none

  // CommandFacts::sized_as of GET and of MGET; 0: the server has none.
  std::uint16_t get_sized_as() const { return get_sized_as_; }
  std::uint16_t mget_sized_as() const { return mget_sized_as_; }

 private:
  CommandNumbers* const numbers_;
  std::shared_ptr<const resp::CommandTable> table_;
  const resp::Command* first_ = nullptr;  // of table_
  std::vector<CommandFacts> facts_;       // of the command at the same place in table_
  const CommandFacts* get_ = nullptr;
  std::uint16_t get_sized_as_ = 0, mget_sized_as_ = 0;
};

}  // namespace heatsink::proxy
