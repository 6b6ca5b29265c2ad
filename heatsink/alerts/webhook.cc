// SPDX-License-Identifier: Apache-2.0
#include "heatsink/alerts/webhook.h"

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <charconv>
#include <cstring>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "heatsink/base/blocked_signals.h"
#include "heatsink/base/printable.h"
#include "heatsink/base/version.h"

namespace heatsink::alerts {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using tcp = asio::ip::tcp;
using TlsStream = asio::ssl::stream<beast::tcp_stream>;

constexpr Nanos kLook = Millis(100);  // how often a post looks whether it is to stop
constexpr std::size_t kAnswerBytesMax = 65'536;
constexpr std::size_t kReasonBytes = 200;

Outcome retry(std::string problem) { return {Outcome::Kind::kRetry, std::move(problem), Nanos(0)}; }

// Only the form in seconds; a date is as good as nothing.
Nanos wait_of(beast::string_view retry_after) {
  std::int64_t seconds = 0;
  const auto [end, error] =
      std::from_chars(retry_after.data(), retry_after.data() + retry_after.size(), seconds);
  constexpr std::int64_t kMost = 3600;
  if (error != std::errc() || seconds < 0 || end != retry_after.data() + retry_after.size())
    return Nanos(0);
  return std::chrono::seconds(std::min(seconds, kMost));
}

// A webhook's answer may repeat the question, with "\\/" for "/" if it is JSON.
bool has_secret(std::string text, const WebhookOptions& options) {
  std::erase(text, '\\');
  const std::string& target = options.url.target;
  const std::string path = target.substr(0, target.find('?'));
  const std::string query = target.substr(std::min(path.size() + 1, target.size()));
  const auto has = [&text](const std::string& part) {
    return !part.empty() && text.find(part) != std::string::npos;
  };
  return (path.size() > 1 && has(path)) || has(query) || has(options.token);
}

Outcome outcome_of(const http::response<http::string_body>& answer, const WebhookOptions& options) {
  const unsigned status = answer.result_int();
  if (status / 100 == 2) return {};
  const std::string line = answer.body().substr(0, answer.body().find('\n'));
  const std::string reason = has_secret(line, options) ? "" : one_line(line, kReasonBytes);
  std::string problem = "it answers with status " + std::to_string(status) +
                        (reason.empty() ? "" : " (" + reason + ")");
  constexpr unsigned kTimeout = 408, kTooMany = 429;
  const bool may_work_later = status / 100 == 5 || status == kTimeout || status == kTooMany;
  if (may_work_later)
    return {Outcome::Kind::kRetry, std::move(problem), wait_of(answer[http::field::retry_after])};
  return {Outcome::Kind::kRefused, std::move(problem), Nanos(0)};
}

std::vector<tcp::endpoint> endpoints_of(const std::vector<net::ResolvedAddress>& addresses) {
  std::vector<tcp::endpoint> out;
  for (const net::ResolvedAddress& address : addresses) {
    tcp::endpoint& endpoint = out.emplace_back();
    if (address.length > endpoint.capacity()) continue;
    std::memcpy(endpoint.data(), address.bytes, address.length);
    endpoint.resize(address.length);
  }
  return out;
}

// One post: connect, handshake, write, read. All steps are on the context's thread.
template <class Stream>
class Post {
 public:
  Post(Stream stream, const WebhookOptions& options, const std::string& body)
      : options_(options), stream_(std::move(stream)) {
    parser_.body_limit(kAnswerBytesMax);
    request_ = {http::verb::post, options.url.target, 11};
    request_.set(http::field::host, options.url.host_header());
    request_.set(http::field::user_agent, std::string("heatsink/") + version());
    request_.set(http::field::content_type, "application/json");
    if (!options.token.empty()) request_.set(http::field::authorization, "Bearer " + options.token);
    request_.keep_alive(false);
    request_.body() = body;
    request_.prepare_payload();
  }

  void start(const std::vector<tcp::endpoint>& endpoints) {
    beast::get_lowest_layer(stream_).async_connect(endpoints,
                                                   [this](const auto& error, const auto&) {
                                                     if (error)
                                                       return fail("cannot connect", error);
                                                     secure();
                                                   });
  }
  std::optional<Outcome> outcome;

 private:
  void fail(const char* what, const beast::error_code& error) {
    outcome = retry(std::string(what) + ": " + error.message());
  }

  void secure() {
    if constexpr (std::is_same_v<Stream, TlsStream>) {
      stream_.async_handshake(asio::ssl::stream_base::client, [this](const auto& error) {
        if (error) return fail("no TLS", error);
        write();
      });
    } else {
      write();
    }
  }

  void write() {
    http::async_write(stream_, request_, [this](const auto& error, std::size_t) {
      if (error) return fail("it does not take the message", error);
      read();
    });
  }

  void read() {
    http::async_read(stream_, buffer_, parser_, [this](const auto& error, std::size_t) {
      // The status counts; how much follows it is the webhook's own business.
      if (error && !parser_.is_header_done()) return fail("it does not answer in HTTP", error);
      outcome = outcome_of(parser_.get(), options_);
    });
  }

  const WebhookOptions& options_;
  Stream stream_;
  http::request<http::string_body> request_;
  beast::flat_buffer buffer_;
  http::response_parser<http::string_body> parser_;
};

template <class Stream>
Outcome run(asio::io_context& io, Post<Stream>& post, const std::vector<tcp::endpoint>& endpoints,
            const WebhookOptions& options, TimePoint until, const std::atomic<bool>& stop) {
  post.start(endpoints);
  while (!post.outcome && !stop) {
    const Nanos left = until - BootClock::now();
    if (left <= Nanos(0))
      return retry("it does not answer within " + format_duration(options.timeout));
    io.run_for(std::min(left, kLook));
  }
  return post.outcome.value_or(retry("heatsink ends"));
}

}  // namespace

struct Webhook::Tls {
  asio::ssl::context context{asio::ssl::context::tls_client};
};

Webhook::Webhook(WebhookOptions options, std::unique_ptr<Tls> tls)
    : options_(std::move(options)), tls_(std::move(tls)) {}
Webhook::~Webhook() = default;

Result<std::shared_ptr<Webhook>> Webhook::make(WebhookOptions options) {
  std::unique_ptr<Tls> tls;
  if (options.url.tls) {
    tls = std::make_unique<Tls>();
    beast::error_code error;
    tls->context.set_verify_mode(asio::ssl::verify_peer, error);
    if (!error && options.ca_file.empty()) {
      tls->context.set_default_verify_paths(error);
    } else if (!error) {
      tls->context.load_verify_file(options.ca_file, error);
    }
    if (error)
      return Error{ErrorCode::kUnavailable,
                   "cannot load the authorities of certificates" +
                       (options.ca_file.empty() ? "" : " in " + printable(options.ca_file)) + ": " +
                       error.message()};
  }
  return std::shared_ptr<Webhook>(new Webhook(std::move(options), std::move(tls)));
}

// getaddrinfo() cannot be interrupted, and waits for a dead name server longer than any timeout
// here. asio's own resolver would make the end of its context wait, too.
Addresses Webhook::resolve(TimePoint until, const std::atomic<bool>& stop) {
  const net::HostPort address{options_.url.host, options_.url.port};
  if (Addresses numeric = net::resolve_numeric(address); numeric.ok()) return numeric;
  if (!looking_up_.valid()) {
    auto answer = std::make_shared<std::promise<Addresses>>();
    try {
      const BlockedSignals blocked;
      std::thread([answer, address, look_up = options_.look_up] {
        answer->set_value(look_up(address));
      }).detach();
    } catch (const std::system_error& error) {
      return Error{ErrorCode::kUnavailable, std::string("cannot start a thread: ") + error.what()};
    }
    looking_up_ = answer->get_future();
  }
  while (!stop) {
    const Nanos left = until - BootClock::now();
    if (looking_up_.wait_for(std::clamp(left, Nanos(0), kLook)) == std::future_status::ready)
      return looking_up_.get();
    if (left <= Nanos(0)) return Error{ErrorCode::kTimedOut, "the name server does not answer"};
  }
  return Error{ErrorCode::kUnavailable, "heatsink ends"};
}

Outcome Webhook::post(const std::string& body, const std::atomic<bool>& stop) {
  const TimePoint until = BootClock::now() + options_.timeout;
  const Addresses addresses = resolve(until, stop);
  if (!addresses.ok()) return retry(addresses.error().message);
  const std::vector<tcp::endpoint> endpoints = endpoints_of(*addresses);
  asio::io_context io{1};
  if (tls_ == nullptr) {
    Post<beast::tcp_stream> post(beast::tcp_stream(io), options_, body);
    return run(io, post, endpoints, options_, until, stop);
  }
  TlsStream stream(io, tls_->context);
  beast::error_code ignored;  // TLS 1.2 is the context's default at least
  stream.set_verify_callback(asio::ssl::host_name_verification(options_.url.host), ignored);
  // As SSL_set_tlsext_host_name(), which is a macro with a cast.
  SSL_ctrl(stream.native_handle(), SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
           options_.url.host.data());
  Post<TlsStream> post(std::move(stream), options_, body);
  return run(io, post, endpoints, options_, until, stop);
}

}  // namespace heatsink::alerts
