// SPDX-License-Identifier: Apache-2.0
#include "heatsink/session/wait.h"

#include "heatsink/resp/value.h"

namespace heatsink::proxy {

void Wait::mark_answered(std::string_view hello, TimePoint read_at) {
  marked_ = true;
  marked_at_ = read_at;
  resp::Value reply;
  std::size_t used = 0;
  if (resp::parse_value(hello, reply, used) != resp::ValueStatus::kValue) return;
  const resp::Value* id = reply.find("id");
  if (id != nullptr && id->type == resp::Value::Type::kInteger && id->integer > 0)
    connection_ = static_cast<std::uint64_t>(id->integer);
}

Wait::Next Wait::client_left() {
  if (!marked_ || asked_ || rests_) return Next::kNothing;
  // CLIENT UNBLOCK needs an id.
  if (connection_ == 0) return Next::kClose;
  asked_ = true;
  return Next::kUnblock;
}

Wait::Next Wait::not_sent(TimePoint now) {
  asked_ = false;
  if (unsent_since_ == TimePoint{}) unsent_since_ = now;
  return now - unsent_since_ < kPatience ? Next::kRetry : Next::kClose;
}

// ":0": the command does not wait. Its reply is on its way, or the server has postponed the command
// (CLIENT PAUSE) and it will wait later.
Wait::Next Wait::unblock_answered(std::string_view reply) {
  unsent_since_ = {};
  if (reply.starts_with(":1\r")) return Next::kNothing;
  asked_ = false;
  const bool later =
      reply.starts_with(":0\r") || reply.starts_with("-BUSY") || reply.starts_with("-LOADING");
  return later ? Next::kRetry : Next::kClose;
}

}  // namespace heatsink::proxy
