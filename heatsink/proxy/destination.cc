// SPDX-License-Identifier: Apache-2.0
#include "heatsink/proxy/destination.h"

#include <vector>

#include "heatsink/proxy/request.h"

namespace heatsink::proxy {

std::optional<std::uint16_t> Destination::slot() const {
  if (request_ == nullptr) return key_ ? std::optional(resp::key_slot(*key_)) : std::nullopt;
  if (request_->command == nullptr) return std::nullopt;
  std::vector<resp::KeyRef> keys;
  resp::find_keys(*request_->command, request_->args(), keys);
  if (keys.empty()) return std::nullopt;
  return resp::key_slot(request_->args()[keys.front().arg]);
}

bool Destination::only_reads() const {
  return request_ != nullptr && request_->command != nullptr &&
         request_->command->has(resp::kReadonly);
}

}  // namespace heatsink::proxy
