// SPDX-License-Identifier: Apache-2.0
// Logs one connection in to its server: as the proxy, as a client's user, or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "heatsink/base/byte_buffer.h"
#include "heatsink/command/client_user.h"
#include "heatsink/redis/credentials.h"
#include "heatsink/resp/resp.h"

namespace heatsink::proxy {

// One per connection; the worker's thread. It makes requests and judges replies; it sends nothing.
class UpstreamLogin {
 public:
  enum class Kind : std::uint8_t {
    kOwn,   // as the proxy's own user, or as user()
    kNone,  // without a login, like a new client
  };

  UpstreamLogin(resp::Protocol protocol, Kind kind) : protocol_(protocol), kind_(kind) {}
  UpstreamLogin(const UpstreamLogin&) = delete;

  // ---- whose

  // Before append(). The user outlives it.
  void log_in_as(const ClientUser& user) { user_ = &user; }
  const ClientUser* user() const { return user_; }  // null: the proxy's own
  Kind kind() const { return kind_; }
  void set_kind(Kind kind) { kind_ = kind; }
  resp::Protocol protocol() const { return protocol_; }
  void set_protocol(resp::Protocol protocol) { protocol_ = protocol; }

  // ---- the handshake

  // Appends the requests. Returns how many replies follow: 0 to 2. `own`: the proxy's.
  std::size_t append(ByteBuffer& output, const redis::Credentials& own) const;
  // One of the replies, in wire form. False: the login has failed (refusal()).
  bool take_reply(bool ok, std::string_view reply);
  // Instead: another process has logged in.
  void take_over(bool knows_hello) {
    if (knows_hello) hello_reply_ = "+OK\r\n";  // its content matters on shared connections only
  }
  // Why the server has refused the login; "": it has not.
  const std::string& refusal() const { return refusal_; }
  // Raw bytes; empty if the server does not know HELLO.
  const std::string& hello_reply() const { return hello_reply_; }

 private:
  resp::Protocol protocol_;
  Kind kind_;
  const ClientUser* user_ = nullptr;
  std::string refusal_;
  std::string hello_reply_;
};

}  // namespace heatsink::proxy
