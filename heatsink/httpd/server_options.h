// SPDX-License-Identifier: Apache-2.0
// Defines the options of the HTTP server: its address, its token, and its limits on slow clients.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "heatsink/base/clock.h"
#include "heatsink/httpd/tokens.h"
#include "heatsink/net/net.h"

namespace heatsink::httpd {

struct HttpServerOptions {
  // 127.0.0.0/8, ::1 or localhost; with a token any address ("": all). Port 0: any free one.
  net::HostPort listen;
  // A listening socket of another process, bound to that address; the server takes the descriptor.
  // -1: the server makes its own.
  int listener = -1;
  Tokens token = {};  // one of them is required of each request; empty: none is
  // Beyond this, the connection that has spent most time on its request, or on reading its answer,
  // is closed: slow clients cannot block others. If all are waiting for answers, the new one gets
  // 503.
  std::size_t connections_max = 64;
  // Maximum time for a request to arrive, for a client to read its answer, and for a connection to
  // be idle.
  Nanos deadline = std::chrono::seconds(10);
  Nanos stream_interval = std::chrono::seconds(1);  // between the messages of a stream
};

}  // namespace heatsink::httpd
