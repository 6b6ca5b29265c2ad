// SPDX-License-Identifier: Apache-2.0
// One question over HTTP, for asking the admin port.
#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <string>

#include "heatsink/base/clock.h"
#include "heatsink/base/result.h"
#include "heatsink/net/address.h"

namespace heatsink::app {

// Asks, bearing `token` unless it is empty, and returns at once; `done` is called from io.run(),
// exactly once unless `io` dies before: with the body of a 200, or with kUnavailable (no
// connection, another status), kTimedOut
// (`timeout` is for all of it but the look-up of a name), kProtocol (not HTTP), kOutOfRange (a body
// past `bytes_max`).
void http_get(boost::asio::io_context& io, const net::HostPort& from, const std::string& path,
              const std::string& token, Nanos timeout, std::size_t bytes_max,
              std::function<void(Result<std::string>)> done);

struct HttpQuestion {
  std::string method;  // "GET", "POST"
  std::string path;
  std::string json;  // the body of a POST
};

// Likewise; the reason that comes with another status is part of the error's message.
void http_ask(boost::asio::io_context& io, const net::HostPort& from, const HttpQuestion& question,
              const std::string& token, Nanos timeout, std::size_t bytes_max,
              std::function<void(Result<std::string>)> done);

}  // namespace heatsink::app
