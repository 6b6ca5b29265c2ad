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

// Whether the address is one that start() would take, as far as can be told without listening.
Status check_address(const net::HostPort& listen, bool has_token);

// Listens and answers from start() to its destruction, which closes all connections, also those
// with an answer under way, and waits for the functions of `routes` that are running. The status
// pages (Pace::kHealth, kMetrics) are answered whatever the clients do, and whatever else is being
// asked. Its errors call its options as the proxy and the library do: admin.listen, admin.token.
class HttpServer {
 public:
  // Errors: kPermission for an address that other machines could reach, without a token;
  // kUnavailable when it cannot be listened on, with the address, the reason and
  // the fix.
  static Result<std::unique_ptr<HttpServer>> start(const HttpServerOptions& options,
                                                   std::vector<Route> routes);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  net::HostPort address() const;  // with the port that was taken

 private:
  struct State;
  explicit HttpServer(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace heatsink::httpd
