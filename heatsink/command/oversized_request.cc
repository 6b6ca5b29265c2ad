// SPDX-License-Identifier: Apache-2.0
#include "heatsink/command/oversized_request.h"

namespace heatsink::proxy {

OversizedRequest::Beginning OversizedRequest::judge(const resp::Command* command, Route route,
                                                    std::size_t args) {
  const bool may_be_sent =
      route == Route::kShared || route == Route::kPrivate || route == Route::kPinned;
  // A last_key below 0 counts from the end of the request, which has not arrived.
  const bool keys_known =
      command != nullptr && command->first_key > 0 && command->last_key >= command->first_key &&
      !command->has(resp::kMovableKeys) && static_cast<std::size_t>(command->last_key) < args;
  return {.may_be_sent = may_be_sent, .keys_known = keys_known};
}

OversizedRequest::Taken OversizedRequest::take(resp::RequestParser& parser,
                                               std::string_view bytes) {
  Taken taken;
  const resp::ParseStatus status = parser.stream(bytes, taken.bytes);
  if (is_sent()) taken.to_send = bytes.substr(0, taken.bytes);
  taken.is_broken = status == resp::ParseStatus::kError;
  if (status == resp::ParseStatus::kRequest) state_ = State::kNone;
  return taken;
}

}  // namespace heatsink::proxy
