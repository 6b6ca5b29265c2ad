// SPDX-License-Identifier: Apache-2.0
// Handles one connection of an HTTP client, from accept to close. Internal to the server.
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
#include <string>
#include <vector>

#include "heatsink/httpd/answers.h"
#include "heatsink/httpd/http_request.h"
#include "heatsink/httpd/server_options.h"
#include "heatsink/httpd/streams.h"

namespace heatsink::httpd {

class Session;

// Shared by all sessions of a server; used only on its thread.
struct Service {
  // Makes room for one more session. If all are taken, closes the one that has spent most time on
  // its request, or else on reading its answer. False: all are waiting for answers.
  bool make_room();

  HttpServerOptions options;
  Answers* answers = nullptr;
  Streams* streams = nullptr;
  std::vector<Session*> open = {};  // without those closed to make room
};

// Reads a request and answers it, one at a time: (read answer)* then at most one drain. Each step
// has the deadline; a session exists as long as a step is in progress. `service` must outlive it.
class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(boost::asio::ip::tcp::socket socket, Service& service);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void read_request();
  void close();  // ends any step in progress

  enum class Phase { kReading, kAnswering, kSending };  // draining counts as reading
  Phase phase() const { return phase_; }
  TimePoint since() const { return since_; }  // start of this phase

 private:
  using Response = boost::beast::http::response<boost::beast::http::string_body>;

  void on_request(boost::beast::error_code error);
  void on_body(boost::beast::error_code error);
  void begin_stream(const Request& request);
  void refuse(boost::beast::error_code error);
  void respond(const Answer& answer, bool keep_alive);
  void enter(Phase phase);
  void leave_service();
  void on_sent();
  void drain();

  Service& service_;
  Phase phase_ = Phase::kReading;
  TimePoint since_{};
  boost::beast::tcp_stream stream_;
  std::string peer_;  // "127.0.0.1:54321"
  Asker asker_;       // of the request
  boost::beast::flat_buffer buffer_;
  // Made anew for each request: neither can be reused.
  std::optional<HttpRequestParser> parser_;
  std::optional<Response> response_;
  std::optional<boost::beast::http::response_serializer<boost::beast::http::string_body>>
      serializer_;
  std::size_t drained_bytes_ = 0;
};

}  // namespace heatsink::httpd
