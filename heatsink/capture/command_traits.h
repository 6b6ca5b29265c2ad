// SPDX-License-Identifier: Apache-2.0
// Inside capture: the properties of commands that matter for matching replies to requests.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heatsink/resp/resp.h"

namespace heatsink::capture {

// How a command changes the replies that come after it.
enum class CommandRole : std::uint8_t {
  kPlain,      // one request, one reply
  kSelect,     // one reply; on success the database changes
  kHello,      // one reply; the protocol may change
  kReset,      // one reply; database and protocol return to their initial state
  kSubscribe,  // RESP2: any number of replies from now on; RESP3: only pushes
  kStream,     // MONITOR, SYNC, PSYNC, CLIENT REPLY: replies cannot be counted from now on
};

struct CommandTraits {
  CommandRole role = CommandRole::kPlain;
  bool is_blocking = false;
  std::uint16_t shape = 0;  // possible reply types, as bits (shape_bit); 0: any

  // "+" (QUEUED) and "-" (errors) are always possible.
  bool allows(char type) const;
};

std::uint16_t shape_bit(char type);
inline bool CommandTraits::allows(char type) const {
  return shape == 0 || type == '+' || type == '-' || (shape & shape_bit(type)) != 0;
}

// The traits of each command in a table. Immutable: any number of threads may read it. The table
// must outlive it.
class CommandTraitsOf {
 public:
  explicit CommandTraitsOf(const resp::CommandTable& table);

  // For null, an unknown command, returns kPlain. O(1).
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
