// SPDX-License-Identifier: Apache-2.0
#include "heatsink/redis/credentials.h"

#include <vector>

namespace heatsink::redis {

void append_hello(ByteBuffer& out, resp::Protocol protocol, const Credentials& credentials,
                  std::string_view name) {
  std::vector<std::string_view> args = {"HELLO", protocol == resp::Protocol::kResp3 ? "3" : "2"};
  if (credentials.given()) {
    args.insert(args.end(), {"AUTH", credentials.acl_user(), credentials.password});
  }
  args.insert(args.end(), {"SETNAME", name});
  resp::append_request(out, args);
}

}  // namespace heatsink::redis
