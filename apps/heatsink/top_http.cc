// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/top_http.h"

#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/empty_body.hpp>
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

Error as_error(const beast::error_code& error) {
  if (error == beast::error::timeout) return {ErrorCode::kTimedOut, "it took too long"};
  if (error == http::error::body_limit) return {ErrorCode::kOutOfRange, "the answer is too big"};
  const bool is_http =
      error.category() == http::make_error_code(http::error::bad_version).category();
  if (is_http) return {ErrorCode::kProtocol, "it does not speak HTTP: " + error.message()};
  return {ErrorCode::kUnavailable, error.message()};
}

// Keeps itself alive from one step to the next: resolve, connect, write, read.
class HttpGet : public std::enable_shared_from_this<HttpGet> {
 public:
  HttpGet(asio::io_context& io, Nanos timeout, std::size_t bytes_max,
          std::function<void(Result<std::string>)> done)
      : resolver_(io), stream_(io), timeout_(timeout), done_(std::move(done)) {
    parser_.body_limit(bytes_max);
  }

  void start(const net::HostPort& from, const std::string& path, const std::string& token) {
    request_ = {http::verb::get, path, 11};
    request_.set(http::field::host, from.text());
    request_.set(http::field::user_agent, "heatsink top");
    if (!token.empty()) request_.set(http::field::authorization, "Bearer " + token);
    request_.keep_alive(false);
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
    if (response.result() == http::status::ok) return done_(std::move(response.body()));
    if (response.result() == http::status::unauthorized)
      return done_(Error{ErrorCode::kPermission,
                         "it wants its token (admin.token): give the file with --token-file"});
    // The reason is the peer's text; the number says as much.
    done_(Error{ErrorCode::kUnavailable, "HTTP status " + std::to_string(response.result_int()) +
                                             ": is that heatsink's admin port?"});
  }

  tcp::resolver resolver_;
  beast::tcp_stream stream_;
  Nanos timeout_;
  std::function<void(Result<std::string>)> done_;
  http::request<http::empty_body> request_;
  beast::flat_buffer buffer_;
  http::response_parser<http::string_body> parser_;
};

}  // namespace

void http_get(asio::io_context& io, const net::HostPort& from, const std::string& path,
              const std::string& token, Nanos timeout, std::size_t bytes_max,
              std::function<void(Result<std::string>)> done) {
  std::make_shared<HttpGet>(io, timeout, bytes_max, std::move(done))->start(from, path, token);
}

}  // namespace heatsink::app
