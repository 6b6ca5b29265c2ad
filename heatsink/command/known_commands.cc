// SPDX-License-Identifier: Apache-2.0
#include "heatsink/command/known_commands.h"

#include <cctype>
#include <utility>

#include "heatsink/detect/detect.h"

namespace heatsink::proxy {

std::uint16_t CommandNumbers::number(std::string_view name) {
  std::string shown(name);
  for (char& c : shown)
    c = c == '|' ? ' ' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  if (const auto found = numbers_.find(shown); found != numbers_.end()) return found->second;
  // A server with more commands is hostile or broken; the last number stands for the rest.
  if (names_.size() >= kCommandsMax) return kCommandsMax;
  const auto number = static_cast<std::uint16_t>(names_.size());
  numbers_.emplace(shown, number);
  names_.push_back(std::move(shown));
  return number;
}

std::string CommandNumbers::name(std::uint16_t number) const {
  return number < names_.size() ? names_[number] : "others";
}

KnownCommands::KnownCommands(CommandNumbers* numbers) : numbers_(numbers) {
  set(std::shared_ptr<const resp::CommandTable>(&resp::CommandTable::built_in(),
                                                [](const auto*) {}));
}

void KnownCommands::set(std::shared_ptr<const resp::CommandTable> table) {
  table_ = std::move(table);
  // The expiry of a hash's field changes a reply without a timely invalidation, so a fill asks for
  // it (redis::FieldNames). Where the server hides that command, such reads get no copies.
  const bool ends_are_hidden =
      table_->find_name("hpexpire") != nullptr && table_->find_name("hpttl") == nullptr;
  first_ = table_->commands().data();
  facts_.clear();
  get_sized_as_ = mget_sized_as_ = 0;
  set_command_ = nullptr;
  for (const resp::Command& command : table_->commands()) {
    const copies::LocalRead* local = copies::local_read_of(command);
    if (local != nullptr && local->fields != redis::FieldNames::kNone && ends_are_hidden)
      local = nullptr;
    const std::uint16_t number =
        numbers_ != nullptr ? numbers_->number(command.name) : detect::kNoCommand;
    facts_.push_back(facts_of(command, number, local));
    // BigReplies wants numbers from 1: 0 stands for no command.
    const auto sized_as = static_cast<std::uint16_t>(facts_.size());
    facts_.back().sized_as = sized_as;
    if (command.name == "get") get_sized_as_ = sized_as;
    if (command.name == "mget") mget_sized_as_ = sized_as;
    if (command.name == "set") set_command_ = &command;
  }
  get_ = get_sized_as_ == 0 ? nullptr : &facts_[get_sized_as_ - 1U];
}

}  // namespace heatsink::proxy
