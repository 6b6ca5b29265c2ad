// SPDX-License-Identifier: Apache-2.0
#include "heatsink/upstream/destination.h"

#include <vector>

#include "heatsink/command/request.h"

namespace heatsink::proxy {

std::optional<std::uint16_t> Destination::slot() const {
  if (slot_) return slot_;
  if (request_ == nullptr) return key_ ? std::optional(resp::key_slot(*key_)) : std::nullopt;
  if (request_->command == nullptr) return std::nullopt;
  const resp::Command& command = *request_->command;
  const std::vector<std::string_view>& args = request_->args();
  if (command.key_positions == resp::KeyPositions::kOneRead ||
      command.key_positions == resp::KeyPositions::kOneWrite) {
    const auto at = static_cast<std::size_t>(command.first_key);
    return at < args.size() ? std::optional(resp::key_slot(args[at])) : std::nullopt;
  }
  std::vector<resp::KeyRef> keys;
  resp::find_keys(command, args, keys);
  if (!keys.empty()) return resp::key_slot(args[keys.front().arg]);
  const bool is_shard_channel =
      command.name == "spublish" || command.name == "ssubscribe" || command.name == "sunsubscribe";
  if (is_shard_channel && args.size() > 1) return resp::key_slot(args[1]);
  return std::nullopt;
}

}  // namespace heatsink::proxy
