// SPDX-License-Identifier: Apache-2.0
// Serves pages over HTTP/1.1 on threads of its own. Beyond loopback each request needs a token.
#pragma once

#include <memory>
#include <vector>

#include "heatsink/base/result.h"
#include "heatsink/httpd/routes.h"
#include "heatsink/httpd/server_options.h"
#include "heatsink/net/net.h"

namespace heatsink::httpd {

// Whether start() would accept the address, as far as that is known without listening.
Status check_address(const net::HostPort& listen, bool has_token);

// Serves from start() to its destruction, which closes all connections, including those with an
// answer in progress, and waits for running functions of `routes`. The status pages (Pace::kHealth,
// kMetrics) are answered whatever clients do and whatever else runs. Errors use the option names of
// the proxy and the library: admin.listen, admin.token.
class HttpServer {
 public:
  // Errors: kPermission for an address that other machines can reach, without a token; kUnavailable
  // if listening fails, with the address, the reason and the fix.
  static Result<std::unique_ptr<HttpServer>> start(const HttpServerOptions& options,
                                                   std::vector<Route> routes);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Another token, required of each request whose answer begins later; "": none is required. Any
  // thread. Takes effect before the answer to a request that is being made now is sent. REQUIRES a
  // token if other machines can reach the address.
  void set_token(Tokens token);

  net::HostPort address() const;  // with the actual port
  // Whether new connections are accepted, from soon on; at first they are. Meanwhile they wait in
  // the socket, or another process with the same socket accepts them. Any thread.
  void set_accepting(bool wanted);
  int listener() const;  // the descriptor of the listening socket; stays the server's

 private:
  struct State;
  explicit HttpServer(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace heatsink::httpd
