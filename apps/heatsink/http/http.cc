// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/http/http.h"

#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <memory>
#include <utility>

namespace heatsink::app {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using tcp = asio::ip::tcp;

constexpr std::size_t kReasonBytesMax = 300;

Error as_error(const beast::error_code& error) {
  if (error == beast::error::timeout) return {ErrorCode::kTimedOut, "it did not answer in time"};
  if (error == http::error::body_limit) return {ErrorCode::kOutOfRange, "its answer is too large"};
  const bool is_http =
      error.category() == http::make_error_code(http::error::bad_version).category();
  if (is_http) return {ErrorCode::kProtocol, "it does not answer in HTTP: " + error.message()};
  return {ErrorCode::kUnavailable, error.message()};
}

// Keeps itself alive through its steps: resolve, connect, write, read.
class HttpExchange : public std::enable_shared_from_this<HttpExchange> {
 public:
  HttpExchange(asio::io_context& io, Nanos timeout, std::size_t bytes_max, bool tells_reasons,
               std::function<void(Result<std::string>)> done)
      : resolver_(io),
        stream_(io),
        timeout_(timeout),
        tells_reasons_(tells_reasons),
        done_(std::move(done)) {
    parser_.body_limit(bytes_max);
  }

  void start(const net::HostPort& from, const HttpQuestion& question, const std::string& token) {
    request_ = {http::string_to_verb(question.method), question.path, 11};
    request_.set(http::field::host, from.text());
    request_.set(http::field::user_agent, "heatsink");
    if (!question.json.empty()) {
      request_.set(http::field::content_type, "application/json");
      request_.body() = question.json;
      request_.prepare_payload();
    }
    if (!token.empty()) request_.set(http::field::authorization, "Bearer " + token);
    request_.keep_alive(false);
    beast::error_code is_name;
    const asio::ip::address numeric = asio::ip::make_address(from.host, is_name);
    if (!is_name)  // a name server that is silent holds up names only
      return connect(tcp::resolver::results_type::create(tcp::endpoint(numeric, from.port),
                                                         from.host, std::to_string(from.port)));
    resolver_.async_resolve(from.host, std::to_string(from.port),
                            [self = shared_from_this()](auto error, const auto& addresses) {
                              if (error) return self->done_(as_error(error));
                              self->connect(addresses);
                            });
  }

 private:
  void connect(const tcp::resolver::results_type& addresses) {
    stream_.expires_after(timeout_);
    stream_.async_connect(addresses, [self = shared_from_this()](auto error, const auto&) {
      if (error) return self->done_(as_error(error));
      self->write();
    });
  }

  void write() {
    http::async_write(stream_, request_, [self = shared_from_this()](auto error, std::size_t) {
      if (error) return self->done_(as_error(error));
      self->read();
    });
  }

  void read() {
    http::async_read(stream_, buffer_, parser_,
                     [self = shared_from_this()](auto error, std::size_t) {
                       if (error) return self->done_(as_error(error));
                       self->finish();
                     });
  }

  void finish() {
    auto& response = parser_.get();
    // An answer in JSON says itself what came of it.
    const bool is_json =
        tells_reasons_ && response[http::field::content_type].starts_with("application/json");
    if (response.result() == http::status::ok || is_json) return done_(std::move(response.body()));
    if (response.result() == http::status::unauthorized)
      return done_(
          Error{ErrorCode::kPermission,
                "it needs its token (admin.token): give the file that has it with --token-file"});
    // Requests without a body only need the number; the peer's text adds nothing.
    const std::string number = "HTTP status " + std::to_string(response.result_int()) + ": ";
    const std::string reason = response.body().substr(0, response.body().find('\n'));
    const bool tells = tells_reasons_ && !reason.empty();
    done_(Error{response.result() == http::status::not_found ? ErrorCode::kNotFound
                                                             : ErrorCode::kUnavailable,
                number + (tells ? reason.substr(0, kReasonBytesMax)
                                : std::string("is this heatsink's admin address?"))});
  }

  tcp::resolver resolver_;
  beast::tcp_stream stream_;
  Nanos timeout_;
  bool tells_reasons_;
  std::function<void(Result<std::string>)> done_;
  http::request<http::string_body> request_;
  beast::flat_buffer buffer_;
  http::response_parser<http::string_body> parser_;
};

}  // namespace

void http_get(asio::io_context& io, const net::HostPort& from, const std::string& path,
              const std::string& token, Nanos timeout, std::size_t bytes_max,
              std::function<void(Result<std::string>)> done) {
  std::make_shared<HttpExchange>(io, timeout, bytes_max, false, std::move(done))
      ->start(from, {"GET", path, ""}, token);
}

void http_ask(asio::io_context& io, const net::HostPort& from, const HttpQuestion& question,
              const std::string& token, Nanos timeout, std::size_t bytes_max,
              std::function<void(Result<std::string>)> done) {
  std::make_shared<HttpExchange>(io, timeout, bytes_max, true, std::move(done))
      ->start(from, question, token);
}

}  // namespace heatsink::app
