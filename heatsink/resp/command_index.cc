// SPDX-License-Identifier: Apache-2.0
#include "heatsink/resp/command_index.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace heatsink::resp {

CommandIndex::CommandIndex(std::vector<Command> commands) : commands_(std::move(commands)) {
  const std::size_t slots = std::bit_ceil(std::max<std::size_t>(commands_.size() * 2, 2));
  slots_.resize(slots);
  mask_ = slots - 1;
  shift_ = 64 - std::countr_zero(slots);
  const Command* container = nullptr;
  for (const Command& command : commands_) {
    const bool is_sub = command.name.find('|') != std::string::npos;
    insert(command, is_sub ? container : nullptr);
    if (command.is_container) container = &command;
  }
}

void CommandIndex::insert(const Command& command, const Command* container) {
  std::string_view name = command.name;
  if (container != nullptr) name.remove_prefix(container->name.size() + 1);
  const FoldedName folded(name);
  std::size_t i = hash(folded, container) >> shift_;
  while (slots_[i].command != nullptr) i = (i + 1) & mask_;
  slots_[i] = Slot{folded, container, &command};
}

}  // namespace heatsink::resp
