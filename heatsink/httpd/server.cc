// SPDX-License-Identifier: Apache-2.0
#include "heatsink/httpd/server.h"

#include <boost/asio/buffer.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "heatsink/base/blocked_signals.h"
#include "heatsink/base/printable.h"
#include "heatsink/httpd/session.h"

namespace heatsink::httpd {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

constexpr auto kAcceptPause = std::chrono::milliseconds(100);
constexpr std::string_view kTooMany =
    "HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain; charset=utf-8\r\n"
    "Content-Length: 21\r\nConnection: close\r\n\r\ntoo many connections\n";

// The address to listen on. Only the name localhost is accepted: other names may change their
// meaning.
Result<tcp::endpoint> endpoint_of(const net::HostPort& listen, bool has_token) {
  error_code error;
  if (listen.host.empty() && has_token) return tcp::endpoint(tcp::v6(), listen.port);
  const std::string host = listen.host == "localhost" ? "127.0.0.1" : listen.host;
  const asio::ip::address address = asio::ip::make_address(host, error);
  if (!error && (address.is_loopback() || has_token)) return tcp::endpoint(address, listen.port);
  const std::string what = "cannot listen on " + printable(listen.text());
  if (has_token)
    return invalid_argument(
        what + ": the address must be an IP address, localhost, or :port for all interfaces");
  return Error{ErrorCode::kPermission,
               what +
                   ": without admin.token every host there could use the admin API: "
                   "listen on loopback (127.0.0.1, [::1] or localhost), or set a token"};
}

Error listen_error(const net::HostPort& listen, const error_code& error) {
  std::string fix;
  if (error == asio::error::address_in_use)
    fix = ": stop the program that uses it, or choose another port";
  if (error == asio::error::access_denied) fix = ": choose a port above 1023";
  return {ErrorCode::kUnavailable,
          "cannot listen on " + listen.text() + " for the admin API: " + error.message() + fix};
}

}  // namespace

// start() builds it; then only its thread uses it, until the destructor has joined the thread.
struct HttpServer::State {
  State(const HttpServerOptions& options, std::vector<Route> routes)
      : service{options},
        answers(io, RouteTable(std::move(routes)), options.token, options.connections_max),
        streams(io, answers.events(), options.stream_interval) {
    service.answers = &answers;
    service.streams = &streams;
  }

  error_code listen(const tcp::endpoint& endpoint, int inherited);
  void accept();
  void on_accept(const error_code& error, tcp::socket socket);

  // Declared in this order: sessions are destroyed with their owners (the answers or the context).
  // Their sockets still need the context then, and the sessions need the service.
  Service service;
  net::HostPort address;
  asio::io_context io{1};
  // The thread runs on while nothing is accepted and no client is connected.
  asio::executor_work_guard<asio::io_context::executor_type> work{io.get_executor()};
  Answers answers;
  Streams streams;
  tcp::acceptor acceptor{io};
  asio::steady_timer pause{io};
  bool accepts = true;
  std::thread thread;
};

error_code HttpServer::State::listen(const tcp::endpoint& endpoint, int inherited) {
  error_code error;
  if (inherited >= 0) {
    if (acceptor.assign(endpoint.protocol(), inherited, error)) return error;
    const tcp::endpoint bound = acceptor.local_endpoint(error);
    address = {bound.address().to_string(), bound.port()};
    return error;
  }
  if (acceptor.open(endpoint.protocol(), error)) return error;
  if (acceptor.set_option(tcp::acceptor::reuse_address(true), error)) return error;
  if (acceptor.bind(endpoint, error)) return error;
  if (acceptor.listen(128, error)) return error;
  const tcp::endpoint taken = acceptor.local_endpoint(error);
  address = {taken.address().to_string(), taken.port()};
  return error;
}

void HttpServer::State::accept() {
  acceptor.async_accept(
      [this](const error_code& error, tcp::socket socket) { on_accept(error, std::move(socket)); });
}

void HttpServer::State::on_accept(const error_code& error, tcp::socket socket) {
  if (!accepts && error) return;
  if (error) {  // most likely without file descriptors: the queue stays full, so do not spin
    pause.expires_after(kAcceptPause);
    pause.async_wait([this](const error_code&) {
      if (accepts) accept();
    });
    return;
  }
  if (service.make_room()) {
    std::make_shared<Session>(std::move(socket), service)->read_request();
  } else {
    error_code ignored;  // best effort: without an answer the client sees a closed connection
    socket.non_blocking(true, ignored);
    socket.write_some(asio::buffer(kTooMany), ignored);
  }
  if (accepts) accept();
}

Status check_address(const net::HostPort& listen, bool has_token) {
  const Result<tcp::endpoint> endpoint = endpoint_of(listen, has_token);
  if (!endpoint.ok()) return endpoint.error();
  return Unit{};
}

Result<std::unique_ptr<HttpServer>> HttpServer::start(const HttpServerOptions& options,
                                                      std::vector<Route> routes) {
  const Result<tcp::endpoint> endpoint = endpoint_of(options.listen, !options.token.empty());
  if (!endpoint.ok()) return endpoint.error();
  auto state = std::make_unique<State>(options, std::move(routes));
  if (const error_code error = state->listen(*endpoint, options.listener))
    return listen_error(options.listen, error);
  state->accept();
  const BlockedSignals blocked;
  try {
    state->answers.start();
    state->streams.start();
    state->thread = std::thread([io = &state->io] { io->run(); });
  } catch (const std::system_error& e) {
    return Error{ErrorCode::kUnavailable,
                 std::string("cannot start a thread for the admin API: ") + e.what()};
  }
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(state)));
}

HttpServer::HttpServer(std::unique_ptr<State> state) : state_(std::move(state)) {}

HttpServer::~HttpServer() {
  state_->io.stop();
  state_->thread.join();
  state_->answers.stop();
  state_->streams.stop();
}

void HttpServer::set_token(Tokens token) {
  asio::post(state_->io, [this, token = std::move(token)]() mutable {
    if (state_->answers.set_tokens(std::move(token))) state_->streams.close_all();
  });
}

net::HostPort HttpServer::address() const { return state_->address; }

void HttpServer::set_accepting(bool wanted) {
  asio::post(state_->io, [state = state_.get(), wanted] {
    if (std::exchange(state->accepts, wanted) == wanted) return;
    error_code ignored;  // nothing can be done about it, and connections are still served
    wanted ? state->accept() : static_cast<void>(state->acceptor.cancel(ignored));
  });
}

int HttpServer::listener() const { return state_->acceptor.native_handle(); }

}  // namespace heatsink::httpd
