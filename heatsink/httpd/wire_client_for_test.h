// SPDX-License-Identifier: Apache-2.0
// For tests: a server on a free port, and a client with a real socket.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/httpd/sample_pages_for_test.h"
#include "heatsink/httpd/server.h"

namespace heatsink::httpd {

inline constexpr Millis kPatience =
    std::chrono::seconds(60);  // a hanging server fails the test instead of blocking it

inline std::unique_ptr<HttpServer> start(HttpServerOptions options = {},
                                         std::vector<Route> routes = sample_routes()) {
  if (options.listen.host.empty()) options.listen.host = "127.0.0.1";
  Result<std::unique_ptr<HttpServer>> server = HttpServer::start(options, std::move(routes));
  EXPECT_TRUE(server.ok()) << server.error().message;
  return std::move(server).value();
}

class Client {
 public:
  explicit Client(const HttpServer& server) : socket_(io_) {
    socket_.connect({boost::asio::ip::make_address(server.address().host), server.address().port});
  }

  // False once the server has gone.
  bool send(std::string_view bytes) {
    boost::system::error_code error;
    boost::asio::write(socket_, boost::asio::buffer(bytes), error);
    return !error;
  }
  void end_sending() { socket_.shutdown(boost::asio::ip::tcp::socket::shutdown_send); }

  // Whether the server sends or closes within `wait`.
  bool hears_within(Millis wait) {
    pollfd descriptor{socket_.native_handle(), POLLIN, 0};
    return poll(&descriptor, 1, static_cast<int>(wait.count())) > 0;
  }

  // Reads until the server closes.
  std::string read_all() {
    return read_until([](const std::string&) { return false; });
  }
  // Reads until `text` has come, or the server closes.
  std::string read_until_text(std::string_view text) {
    return read_until([&](const std::string& got) { return got.find(text) != std::string::npos; });
  }

 private:
  // Within kPatience in total: a server that speaks for ever fails the test, too.
  template <class Done>
  std::string read_until(Done done) {
    const TimePoint end = BootClock::now() + kPatience;
    std::string got;
    char chunk[4096];
    while (!done(got)) {
      const Millis left = std::chrono::duration_cast<Millis>(end - BootClock::now());
      if (left <= Millis(0) || !hears_within(left)) {
        ADD_FAILURE() << "the server did not send what was expected; so far: " << got;
        break;
      }
      boost::system::error_code error;
      const std::size_t n = socket_.read_some(boost::asio::buffer(chunk), error);
      if (error) break;
      got.append(chunk, n);
    }
    return got;
  }

  boost::asio::io_context io_;
  boost::asio::ip::tcp::socket socket_;
};

inline std::string ask(const HttpServer& server, std::string_view request) {
  Client client(server);
  client.send(request);
  return client.read_all();
}

inline std::string get_request(std::string_view path) {
  return "GET " + std::string(path) + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
}

}  // namespace heatsink::httpd
