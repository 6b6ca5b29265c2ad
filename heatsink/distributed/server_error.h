// SPDX-License-Identifier: Apache-2.0
// What an error of the server's means for whoever called a function.
#pragma once

#include <string_view>

#include "heatsink/base/result.h"
#include "heatsink/resp/value.h"

namespace heatsink::distributed {

// REQUIRES reply.is_error(). kUnavailable: it may work later, or elsewhere; kPermission: this user
// may not, and the sentence says what he needs; kInvalidArgument: all the rest, which is said by
// the function.
Error error_of(const resp::Value& reply);

inline bool is_moved(const resp::Value& reply) {
  return reply.is_error() && reply.text.starts_with("MOVED ");
}
inline bool is_ask(const resp::Value& reply) {
  return reply.is_error() && reply.text.starts_with("ASK ");
}
// It was the one that takes writes, and is not any more: its name may lead to another by now.
inline bool is_replica(const resp::Value& reply) {
  return reply.is_error() && reply.text.find("READONLY") != std::string::npos;
}

}  // namespace heatsink::distributed
