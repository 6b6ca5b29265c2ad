// SPDX-License-Identifier: Apache-2.0
#include "heatsink/proxy/client_acceptor.h"

#include <utility>

#include "heatsink/base/log.h"

namespace heatsink::proxy {
namespace {

// Bounded, so that a burst of new clients does not delay the connected ones.
constexpr std::size_t kAcceptsPerTurn = 64;
constexpr Nanos kAcceptPause = Millis(100);
// Of kAcceptsPerTurn clients each.
constexpr int kLastAcceptsMax = 64;

}  // namespace

class ClientAcceptor::Listener final : public net::FdHandler {
 public:
  Listener(ClientAcceptor& acceptor, net::Fd socket)
      : acceptor_(acceptor), socket_(std::move(socket)) {}
  void on_readable() override { acceptor_.accept_clients(socket_); }
  void on_writable() override {}
  const net::Fd& socket() const { return socket_; }

 private:
  ClientAcceptor& acceptor_;
  net::Fd socket_;
};

ClientAcceptor::ClientAcceptor(SharedState& shared, net::EventLoop& loop,
                               copies::Counters& counters, Owner& owner)
    : shared_(shared),
      loop_(loop),
      counters_(counters),
      owner_(owner),
      handshakes_(loop, *this, shared.options().tls_handshake_timeout) {}

ClientAcceptor::~ClientAcceptor() = default;

void ClientAcceptor::listen_on(net::Fd listener) {
  listeners_.push_back(std::make_unique<Listener>(*this, std::move(listener)));
}

void ClientAcceptor::begin() {
  for (const auto& listener : listeners_) {
    if (!loop_
             .add(listener->socket().get(), accepts_ ? net::Interest::kRead : net::Interest::kNone,
                  *listener)
             .ok())
      log(LogLevel::kError,
          "a worker cannot watch its listening socket, so it accepts no clients: raise "
          "fs.epoll.max_user_watches, and restart the proxy");
  }
}

void ClientAcceptor::set_accepting(bool wanted) {
  accepts_ = wanted;
  watch_listeners(wanted ? net::Interest::kRead : net::Interest::kNone);
}

void ClientAcceptor::accept_last() {
  for (const auto& listener : listeners_) {
    for (int i = 0; accepts_ && i < kLastAcceptsMax && accept_clients(listener->socket()); ++i) {
    }
    loop_.remove(listener->socket().get());
  }
  listeners_.clear();
}

void ClientAcceptor::follow_options() {
  handshakes_.set_timeout(shared_.options().tls_handshake_timeout);
}

void ClientAcceptor::watch_listeners(net::Interest interest) {
  for (const auto& listener : listeners_) loop_.change(listener->socket().get(), interest);
}

bool ClientAcceptor::accept_clients(const net::Fd& listener) {
  const net::TlsContext tls = shared_.client_tls();
  for (std::size_t i = 0; i < kAcceptsPerTurn; ++i) {
    bool again = false;
    Result<net::Accepted> accepted = net::accept_tcp(listener, again);
    if (!accepted.ok()) {
      if (!again && accepted.error().code == ErrorCode::kOutOfRange)
        pause(accepted.error().message);
      return false;
    }
    if (has_room(*accepted) && is_within_rate(*accepted)) take(std::move(*accepted), tls);
  }
  return true;
}

void ClientAcceptor::take(net::Accepted accepted, const net::TlsContext& tls) {
  shared_.clients.fetch_add(1);
  if (!tls) return owner_.accepted(net::Stream(std::move(accepted.socket)), accepted.peer);
  owner_.note_work();
  start_tls(std::move(accepted), tls);
}

bool ClientAcceptor::has_room(const net::Accepted& accepted) {
  const auto limit = static_cast<std::uint64_t>(shared_.options().clients_max);
  if (shared_.clients.load(std::memory_order_relaxed) >= limit) {
    refuse(accepted.socket, copies::Count::kClientsRefused, "max number of clients reached");
    return false;
  }
  if (!shared_.has_descriptors()) {
    refuse(accepted.socket, copies::Count::kDescriptorsFull, "max number of clients reached");
    return false;
  }
  return true;
}

bool ClientAcceptor::is_within_rate(const net::Accepted& accepted) {
  switch (shared_.connection_rate.admit(accepted.peer, loop_.now())) {
    case ConnectionRate::Verdict::kAdmit:
      return true;
    case ConnectionRate::Verdict::kTooManyInAll:
      refuse(accepted.socket, copies::Count::kClientsTooFast, "max rate of new clients reached");
      return false;
    case ConnectionRate::Verdict::kTooManyOfNetwork:
      refuse(accepted.socket, copies::Count::kNetworkTooFast,
             "max rate of new clients from this address reached");
      return false;
  }
  return true;
}

// Redis uses the same words for too many clients.
void ClientAcceptor::refuse(const net::Fd& socket, copies::Count why, const char* words) {
  counters_.add(why);
  if (shared_.client_tls()) return;  // a TLS client cannot read it before the handshake
  const std::string line = std::string("-ERR ") + words + "\r\n";
  static_cast<void>(net::write_some(socket.get(), line.data(), line.size()));
}

// Without file descriptors the kernel would report the listener as readable for ever.
void ClientAcceptor::pause(const std::string& why) {
  counters_.add(copies::Count::kAcceptsPaused);
  log_limited(LogLevel::kWarning, "fds", "accepting no clients for a moment: " + why, loop_.now());
  watch_listeners(net::Interest::kNone);
  loop_.call_after(kAcceptPause, [this] {
    if (accepts_) watch_listeners(net::Interest::kRead);
  });
}

void ClientAcceptor::start_tls(net::Accepted accepted, const net::TlsContext& context) {
  if (shared_.handshakes.fetch_add(1) >= shared_.options().tls_handshakes_max) {
    shared_.handshakes.fetch_sub(1);
    shared_.clients.fetch_sub(1, std::memory_order_relaxed);
    counters_.add(copies::Count::kHandshakesFull);
    return;
  }
  handshakes_.start(std::move(accepted.socket), context, std::move(accepted.peer));
}

void ClientAcceptor::handshake_done(net::Stream stream, const std::string& peer) {
  shared_.handshakes.fetch_sub(1);
  counters_.add(copies::Count::kHandshakes);
  owner_.accepted(std::move(stream), peer);
}

void ClientAcceptor::handshake_failed(const std::string& peer, const std::string& why) {
  shared_.handshakes.fetch_sub(1);
  shared_.clients.fetch_sub(1, std::memory_order_relaxed);
  counters_.add(copies::Count::kHandshakesFailed);
  log_limited(
      LogLevel::kWarning, why,
      "client " + peer + " was refused: " + why + " (docs/guides/security.md says what to do)",
      loop_.now());
}

}  // namespace heatsink::proxy
