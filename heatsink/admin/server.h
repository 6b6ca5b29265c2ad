// SPDX-License-Identifier: Apache-2.0
// The admin API's server: HTTP/1.1 on threads of its own; beyond loopback only for those who bear
// the token.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "heatsink/admin/routes.h"
#include "heatsink/base/clock.h"
#include "heatsink/base/result.h"
#include "heatsink/net/net.h"

namespace heatsink::admin {

inline constexpr std::uint32_t kRequestHeaderBytesMax = 8192;
inline constexpr std::uint32_t kRequestBodyBytesMax = 1024 * 1024;  // of a POST; others have none

struct ServerOptions {
  // 127.0.0.0/8, ::1 or localhost, with a token any address ("": all); port 0: any free one.
  net::HostPort listen;
  std::string token = {};  // every request must bear it; "": none is asked for
  // One more, and the one that has taken longest over its request, or its answer, is closed: slow
  // clients cannot keep the places of others. While all are being answered the new one gets 503.
  std::size_t connections_max = 64;
  // For a request to arrive whole, for its answer to be taken, and for a connection to be idle.
  Nanos deadline = std::chrono::seconds(10);
};

// Whether the address is one that start() would take, as far as can be told without listening.
Status check_address(const net::HostPort& listen, bool has_token);

// Listens and answers from start() to its destruction, which closes all connections, also those
// with an answer under way, and waits for the callbacks of `sources` that are running. /healthz and
// /metrics are answered whatever the clients do, and whatever else is being asked.
class Server {
 public:
  // Errors: kPermission for an address that other machines could reach, without a token;
  // kUnavailable when it cannot be listened on, with the address, the reason and
  // the fix.
  static Result<std::unique_ptr<Server>> start(const ServerOptions& options, Sources sources);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  net::HostPort address() const;  // with the port that was taken

 private:
  struct State;
  explicit Server(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace heatsink::admin
