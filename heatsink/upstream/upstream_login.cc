// SPDX-License-Identifier: Apache-2.0
#include "heatsink/upstream/upstream_login.h"

#include "heatsink/redis/refusal.h"

namespace heatsink::proxy {

// With RESP2, AUTH and HELLO are separate requests, so that a server without HELLO (before Redis 6)
// works.
std::size_t UpstreamLogin::append(ByteBuffer& output, const redis::Credentials& own) const {
  if (kind_ == Kind::kNone) return 0;
  const redis::Credentials& credentials = user_ != nullptr ? user_->credentials : own;
  if (protocol_ == resp::Protocol::kResp3) {
    redis::append_hello(output, protocol_, credentials, "heatsink");
    return 1;
  }
  if (!credentials.user.empty()) {
    resp::append_request(output, {"AUTH", credentials.user, credentials.password});
  } else if (credentials.given()) {
    resp::append_request(output, {"AUTH", credentials.password});
  }
  redis::append_hello(output, protocol_, {}, "heatsink");
  return credentials.given() ? 2 : 1;
}

bool UpstreamLogin::take_reply(bool ok, std::string_view reply) {
  if (ok) {
    hello_reply_ = reply;  // that to HELLO is the last one
    return true;
  }
  hello_reply_.clear();
  const bool hello_unknown = reply.starts_with("-ERR unknown command");
  if (hello_unknown && protocol_ == resp::Protocol::kResp2) return true;
  const std::string_view said = reply.substr(1, reply.find('\r') - 1);
  refusal_ = user_ == nullptr ? redis::login_problem(said)
                              : "the server refused the login of the client's user: " +
                                    std::string(redis::without_arguments(said));
  return false;
}

}  // namespace heatsink::proxy
