// SPDX-License-Identifier: Apache-2.0
// The user and password with which heatsink logs in to a server.
#pragma once

#include <string>
#include <string_view>

#include "heatsink/base/byte_buffer.h"
#include "heatsink/resp/writer.h"

namespace heatsink::redis {

struct Credentials {
  std::string user;  // empty: the server's default user
  std::string password;

  bool given() const { return !user.empty() || !password.empty(); }
  std::string_view acl_user() const {
    return user.empty() ? std::string_view("default") : std::string_view(user);
  }
};

// "HELLO n [AUTH user password] SETNAME name": one request that authenticates and chooses the
// protocol.
void append_hello(ByteBuffer& out, resp::Protocol protocol, const Credentials& credentials,
                  std::string_view name);

}  // namespace heatsink::redis
