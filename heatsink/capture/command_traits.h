// SPDX-License-Identifier: Apache-2.0
// Inside capture: the facts of a command that are needed to match replies to requests.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heatsink/resp/resp.h"

namespace heatsink::capture {

// What a command does to the replies that come after it.
enum class CommandRole : std::uint8_t {
  kPlain,      // one request, one reply
  kSelect,     // the same, and another database if it succeeds
  kHello,      // the same, and perhaps another protocol
  kReset,      // the same, and both as in the beginning
  kSubscribe,  // RESP2: any number of replies from now on; RESP3: none, but pushes
  kStream,     // MONITOR, SYNC, PSYNC, CLIENT REPLY: nobody can count the replies from now on
};

struct CommandTraits {
  CommandRole role = CommandRole::kPlain;
  bool is_blocking = false;
  std::uint16_t shape = 0;  // which types of reply it may have, as bits (shape_bit); 0: any

  // "+" and "-" are always possible: QUEUED, and errors.
  bool allows(char type) const;
};

std::uint16_t shape_bit(char type);
inline bool CommandTraits::allows(char type) const {
  return shape == 0 || type == '+' || type == '-' || (shape & shape_bit(type)) != 0;
}

// Of each row of a table. Immutable: any number of threads may read one. Must not outlive the
// table.
class CommandTraitsOf {
 public:
  explicit CommandTraitsOf(const resp::CommandTable& table);

  // Null, an unknown command: plain. O(1).
  const CommandTraits& operator[](const resp::Command* command) const {
    return command == nullptr ? unknown_
                              : traits_[static_cast<std::size_t>(command - commands_.data())];
  }

 private:
  std::span<const resp::Command> commands_;
  std::vector<CommandTraits> traits_;
  CommandTraits unknown_;
};

}  // namespace heatsink::capture
