// SPDX-License-Identifier: Apache-2.0
// Translates a server's error reply for the caller of a function.
#pragma once

#include <string_view>

#include "heatsink/base/result.h"
#include "heatsink/resp/value.h"

namespace heatsink::distributed {

// REQUIRES reply.is_error(). kUnavailable: the call may work later, or on another server.
// kPermission: the user lacks a right, which the message names. kInvalidArgument: all other errors;
// the function itself raised them.
Error error_of(const resp::Value& reply);

// The server was a primary and has become a replica: its name may lead to another server now.
inline bool is_replica(const resp::Value& reply) {
  return reply.is_error() && reply.text.find("READONLY") != std::string::npos;
}

}  // namespace heatsink::distributed
