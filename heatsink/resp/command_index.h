// SPDX-License-Identifier: Apache-2.0
// Inside resp: finds a command by its name, in any case, with one cache line per look-up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "heatsink/resp/command.h"
#include "heatsink/resp/folded_name.h"

namespace heatsink::resp {

// Open addressing, at most half full. A subcommand is found by its container and its own name.
// Immutable; any number of threads may read it.
class CommandIndex {
 public:
  // REQUIRES that each container is directly followed by all of its subcommands.
  explicit CommandIndex(std::vector<Command> commands);
  CommandIndex(const CommandIndex&) = delete;  // slots point into commands_
  CommandIndex& operator=(const CommandIndex&) = delete;

  const std::vector<Command>& commands() const { return commands_; }

  // Null if there is none. `container`: null, or the result of find() for the container's name.
  const Command* find(std::string_view name, const Command* container) const {
    const FoldedName folded(name);
    for (std::size_t i = hash(folded, container) >> shift_;; i = (i + 1) & mask_) {
      const Slot& slot = slots_[i];
      if (slot.command == nullptr) return nullptr;
      if (slot.name == folded && slot.container == container && is_same(slot, name))
        return slot.command;
    }
  }

 private:
  struct Slot {
    FoldedName name{""};
    const Command* container = nullptr;
    const Command* command = nullptr;  // null: the slot is free
  };

  static std::uint64_t hash(const FoldedName& name, const Command* container);
  static bool is_same(const Slot& slot, std::string_view name);
  void insert(const Command& command, const Command* container);

  std::vector<Command> commands_;
  std::vector<Slot> slots_;
  std::size_t mask_ = 0;
  int shift_ = 0;
};

// Inline: the request path's whole look-up is here.
inline std::uint64_t CommandIndex::hash(const FoldedName& name, const Command* container) {
  constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15;
  const auto place = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(container));
  const std::uint64_t mixed = (name.head ^ (name.tail << 7 | name.tail >> 57) ^ place << 13) * kOdd;
  return (mixed ^ mixed >> 32 ^ name.size) * kOdd;
}

// Compares the middle of long names, which a FoldedName does not hold.
inline bool CommandIndex::is_same(const Slot& slot, std::string_view name) {
  if (name.size() <= FoldedName::kWholeMax) return true;
  const std::string_view full = slot.command->name;
  return is_word(name, full.substr(full.size() - name.size()));
}

}  // namespace heatsink::resp
