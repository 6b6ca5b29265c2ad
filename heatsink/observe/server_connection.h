// SPDX-License-Identifier: Apache-2.0
// Opens the socket of a ServerProtocol while it wants one, and reconnects when it is lost.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "heatsink/net/net.h"
#include "heatsink/observe/server_protocol.h"

namespace heatsink::observe {

// How to reach the server under observation.
struct ServerAddress {
  net::RedisUrl url;
  std::vector<net::ResolvedAddress> addresses;  // not empty; tried in order
  net::TlsContext tls;                          // empty: no TLS
};

// Lives on the loop's thread; arguments passed by reference must outlive it. Memory: that of the
// protocol. Reads at most kTurnBytesMax per turn, so that timers run on time.
class ServerConnection final : public net::FdHandler {
 public:
  static constexpr Nanos kConnectTimeout = std::chrono::seconds(5);
  static constexpr Nanos kBackoff = Millis(500);
  static constexpr std::size_t kTurnBytesMax = 1U << 20U;

  // `on_open`: called with the local address ("127.0.0.1:54321") before anything is sent.
  using OnOpen = std::function<void(const std::string& local)>;
  ServerConnection(net::EventLoop& loop, const ServerAddress& server, ServerProtocol& protocol,
                   OnOpen on_open);
  ~ServerConnection();
  ServerConnection(const ServerConnection&) = delete;

  // Opens or closes the socket as the protocol wants, and sends its output. Call it in each turn.
  void update(TimePoint now);

  void on_readable() override;
  void on_writable() override;

 private:
  void connect(TimePoint now);
  void advance(TimePoint now);  // one step of connecting
  void read(TimePoint now);
  void flush(TimePoint now);
  void fail(const Error& why, TimePoint now);
  void close();

  net::EventLoop& loop_;
  const ServerAddress& server_;
  ServerProtocol& protocol_;
  OnOpen on_open_;
  net::Stream stream_;
  bool open_ = false;
  std::size_t attempts_ = 0;
  TimePoint connect_by_{};
  TimePoint not_before_{};
};

}  // namespace heatsink::observe
