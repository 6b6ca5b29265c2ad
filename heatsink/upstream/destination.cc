// SPDX-License-Identifier: Apache-2.0
#include "heatsink/upstream/destination.h"

#include <algorithm>
#include <vector>

#include "heatsink/command/request.h"
#include "heatsink/copies/node_state.h"

namespace heatsink::proxy {

std::optional<std::uint16_t> Destination::slot() const {
  if (slot_) return slot_;
  if (request_ == nullptr) return key_ ? std::optional(resp::key_slot(*key_)) : std::nullopt;
  if (request_->command == nullptr) return std::nullopt;
  const resp::Command& command = *request_->command;
  const std::vector<std::string_view>& args = request_->args();
  if (command.key_rule == resp::KeyRule::kOneRead || command.key_rule == resp::KeyRule::kOneWrite) {
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

// Code may read keys that the request does not name. With level off there are no copies, so a
// client expects what the server would answer.
bool Destination::may_lag(const copies::NodeState& shared) const {
  if (behind_ == Behind::kOwnWrite || request_ == nullptr || request_->command == nullptr)
    return false;
  const resp::Command& command = *request_->command;
  if (!command.has(resp::kReadonly) || command.has(resp::kMayReplicate | resp::kNoMandatoryKeys))
    return false;
  std::vector<resp::KeyRef> keys;
  if (resp::find_keys(command, request_->args(), keys) != resp::Keys::kKnown || keys.empty())
    return false;
  return std::all_of(keys.begin(), keys.end(), [&](const resp::KeyRef& ref) {
    return shared.consistency_of(request_->args()[ref.arg]).level == cache::Level::kTtl;
  });
}

}  // namespace heatsink::proxy
