// SPDX-License-Identifier: Apache-2.0
// Sends one HTTP request to an admin port.
#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <string>

#include "heatsink/base/clock.h"
#include "heatsink/base/result.h"
#include "heatsink/net/address.h"

namespace heatsink::app {

// Sends the request, with `token` unless it is empty, and returns at once. io.run() calls `done`
// exactly once, unless `io` is destroyed before: with the body of a 200, or with kUnavailable (no
// connection, another status), kNotFound (404), kTimedOut (`timeout` covers everything but the
// look-up of a name), kProtocol (not HTTP), kOutOfRange (a body larger than `bytes_max`).
void http_get(boost::asio::io_context& io, const net::HostPort& from, const std::string& path,
              const std::string& token, Nanos timeout, std::size_t bytes_max,
              std::function<void(Result<std::string>)> done);

struct HttpQuestion {
  std::string method;  // "GET", "POST"
  std::string path;
  std::string json;  // the body of a POST
};

// The same; for another status, the body if it is JSON, or else the error's message includes the
// server's reason.
void http_ask(boost::asio::io_context& io, const net::HostPort& from, const HttpQuestion& question,
              const std::string& token, Nanos timeout, std::size_t bytes_max,
              std::function<void(Result<std::string>)> done);

}  // namespace heatsink::app
