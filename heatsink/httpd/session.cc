// SPDX-License-Identifier: Apache-2.0
#include "heatsink/httpd/session.h"

#include <time.h>

#include <array>
#include <boost/beast/core/error.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>
#include <utility>

namespace heatsink::httpd {
namespace {

namespace beast = boost::beast;
namespace http = boost::beast::http;

// How much of a refused body is read. Clients that send all of it before they read, as most do,
// then see why.
constexpr std::size_t kDrainBytesMax = 4 * kRequestBodyBytesMax;
constexpr auto kDrainTime = std::chrono::seconds(1);

// A page may run its own files, and talk to this server; nothing else, and no other page may frame
// it.
constexpr const char* kContentPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

std::string http_date(WallTime now) {  // RFC 9110, section 5.6.7
  const time_t seconds = std::chrono::system_clock::to_time_t(now);
  tm utc{};
  gmtime_r(&seconds, &utc);
  std::array<char, 40> text{};
  strftime(text.data(), text.size(), "%a, %d %b %Y %H:%M:%S GMT", &utc);
  return text.data();
}

}  // namespace

Session::Session(boost::asio::ip::tcp::socket socket, Service& service)
    : service_(service), stream_(std::move(socket)), buffer_(2 * kRequestHeaderBytesMax) {
  boost::system::error_code gone;
  const auto peer = stream_.socket().remote_endpoint(gone);
  if (!gone) peer_ = net::HostPort{peer.address().to_string(), peer.port()}.text();
  service_.open.push_back(this);
}

Session::~Session() { leave_service(); }

void Session::leave_service() { std::erase(service_.open, this); }

// Operations in progress end with an error, and so does the session.
void Session::close() {
  leave_service();
  stream_.close();
}

void Session::enter(Phase phase) {
  phase_ = phase;
  since_ = BootClock::now();
}

bool Service::make_room() {
  if (open.size() < options.connections_max) return true;
  Session* slowest = nullptr;
  for (Session* session : open) {
    if (session->phase() == Session::Phase::kAnswering) continue;
    const auto key = [](const Session& of) {
      return std::pair(of.phase() != Session::Phase::kReading, of.since());
    };
    if (slowest == nullptr || key(*session) < key(*slowest)) slowest = session;
  }
  if (slowest == nullptr) return false;
  slowest->close();
  return true;
}

void Session::read_request() {
  enter(Phase::kReading);
  serializer_.reset();
  response_.reset();
  parser_.emplace();
  limit(*parser_);
  // One deadline for the whole header, however many reads it takes: a client that sends a byte at a
  // time cannot extend it.
  stream_.expires_after(service_.options.deadline);
  http::async_read_header(stream_, buffer_, *parser_,
                          [self = shared_from_this()](beast::error_code error, std::size_t) {
                            self->on_request(error);
                          });
}

void Session::on_request(beast::error_code error) {
  if (error) return refuse(error);
  if (parser_->is_done()) return on_body({});
  if (parser_->get().method() != http::verb::post)
    return refuse(http::error::body_limit);  // a body follows, perhaps in chunks
  // The same deadline continues.
  http::async_read(stream_, buffer_, *parser_,
                   [self = shared_from_this()](beast::error_code failed, std::size_t) {
                     self->on_body(failed);
                   });
}

void Session::on_body(beast::error_code error) {
  if (error) return refuse(error);
  enter(Phase::kAnswering);
  Request request = to_request(parser_->get());
  asker_ = service_.answers->asker(request, peer_);
  request.peer = asker_.who;
  request.asker = &asker_;
  if (service_.answers->is_stream(request)) return begin_stream(request);
  service_.answers->ask(request, [self = shared_from_this()](const Answer& answer) {
    self->respond(answer, self->parser_->get().keep_alive());
  });
}

// The connection leaves this session, which ends.
void Session::begin_stream(const Request& request) {
  if (service_.streams->is_full())
    return respond({503, "too many streams are open: close one, or ask again once a second\n"},
                   false);
  leave_service();
  service_.streams->take(stream_.release_socket(), std::string(request.last_event_id.value_or("")));
}

void Session::refuse(beast::error_code error) {
  if (error == http::error::end_of_stream) return;  // closed between two requests
  if (error == http::error::header_limit || error == http::error::buffer_overflow) {
    return respond({431, "the request headers are larger than 8 KiB\n"}, false);
  }
  if (error == http::error::body_limit)
    return respond({413, "the body is too large: only POST may have one, of at most 1 MiB\n"},
                   false);
  const bool malformed = error.category() == make_error_code(http::error::bad_method).category();
  if (malformed) return respond({400, "not an HTTP/1.1 request: " + error.message() + "\n"}, false);
  // The deadline passed or the connection broke, so no answer can be sent. The stream closes with
  // the session.
}

void Session::respond(const Answer& answer, bool keep_alive) {
  enter(Phase::kSending);
  const bool head = parser_->is_header_done() && parser_->get().method() == http::verb::head;
  response_.emplace(http::int_to_status(answer.status), 11);
  response_->set(http::field::server, "heatsink");
  response_->set(http::field::date, http_date(std::chrono::system_clock::now()));
  response_->set(http::field::content_type, answer.content_type);
  response_->set(http::field::cache_control, "no-store");
  response_->set("X-Content-Type-Options", "nosniff");
  response_->set("Content-Security-Policy", kContentPolicy);
  response_->set("Referrer-Policy", "no-referrer");
  if (answer.status == 401) response_->set(http::field::www_authenticate, "Bearer");
  if (answer.status == 405) response_->set(http::field::allow, answer.allowed);
  response_->keep_alive(keep_alive);
  response_->body() = answer.body;
  response_->prepare_payload();
  serializer_.emplace(*response_);
  stream_.expires_after(service_.options.deadline);
  const auto sent = [self = shared_from_this()](beast::error_code error, std::size_t) {
    if (!error) self->on_sent();
  };
  if (head) {
    http::async_write_header(stream_, *serializer_, sent);
  } else {
    http::async_write(stream_, *serializer_, sent);
  }
}

void Session::on_sent() {
  if (response_->keep_alive()) return read_request();
  beast::error_code ignored;  // the peer may be gone already
  stream_.socket().shutdown(boost::asio::ip::tcp::socket::shutdown_send, ignored);
  drain();
}

// Reads a little of what the client still sends before closing: if unread bytes remain, the kernel
// sends a reset, which can destroy the answer before the client has read it (RFC 9112, section
// 9.6).
void Session::drain() {
  enter(Phase::kReading);
  if (drained_bytes_ == 0) stream_.expires_after(kDrainTime);
  if (drained_bytes_ > kDrainBytesMax) return;
  buffer_.clear();
  stream_.async_read_some(buffer_.prepare(4096),
                          [self = shared_from_this()](beast::error_code error, std::size_t n) {
                            self->drained_bytes_ += n;
                            if (!error) self->drain();
                          });
}

}  // namespace heatsink::httpd
