// SPDX-License-Identifier: Apache-2.0
// One connection of the admin API, from accept to close. Internal to the server.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/serializer.hpp>
#include <boost/beast/http/string_body.hpp>
#include <cstddef>
#include <memory>
#include <optional>

#include "heatsink/admin/http_request.h"
#include "heatsink/admin/server.h"

namespace heatsink::admin {

// What all sessions of a server share; used on its thread only.
struct Service {
  ServerOptions options;
  Sources sources;
  std::size_t open_sessions = 0;
};

// Reads a request, answers it, and so on, one at a time: (read answer)* then at most one drain.
// Every step has the deadline; a session lives as long as a step is under way. `service` must
// outlive it.
class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(boost::asio::ip::tcp::socket socket, Service& service);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void read_request();

 private:
  using Response = boost::beast::http::response<boost::beast::http::string_body>;

  void on_request(boost::beast::error_code error);
  void on_body(boost::beast::error_code error);
  void refuse(boost::beast::error_code error);
  void respond(Answer answer, bool keep_alive);
  void on_sent();
  void drain();

  Service& service_;
  boost::beast::tcp_stream stream_;
  boost::beast::flat_buffer buffer_;
  // Made anew for every request: neither can be used twice.
  std::optional<HttpRequestParser> parser_;
  std::optional<Response> response_;
  std::optional<boost::beast::http::response_serializer<boost::beast::http::string_body>>
      serializer_;
  std::size_t drained_bytes_ = 0;
};

}  // namespace heatsink::admin
