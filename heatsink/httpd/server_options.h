// SPDX-License-Identifier: Apache-2.0
// The options of the HTTP server: its address, its token, and its limits on slow clients.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "heatsink/base/clock.h"
#include "heatsink/net/net.h"

namespace heatsink::httpd {

struct HttpServerOptions {
  // 127.0.0.0/8, ::1 or localhost, with a token any address ("": all); port 0: any free one.
  net::HostPort listen;
  std::string token = {};  // every request must bear it; "": none is asked for
  // One more, and the one that has taken longest over its request, or its answer, is closed: slow
  // clients cannot keep the places of others. While all are being answered the new one gets 503.
  std::size_t connections_max = 64;
  // For a request to arrive whole, for its answer to be taken, and for a connection to be idle.
  Nanos deadline = std::chrono::seconds(10);
};

}  // namespace heatsink::httpd
