// SPDX-License-Identifier: Apache-2.0
// The socket of a ConnectionProtocol: connects, carries its bytes, and reconnects with back-off.
#pragma once

#include <atomic>
#include <cstdint>
#include <random>
#include <string>
#include <utility>

#include "heatsink/net/net.h"
#include "heatsink/redis/connection_protocol.h"
#include "heatsink/redis/upstream_address.h"

namespace heatsink::redis {

struct ServerConnectionOptions {
  Nanos connect_timeout = std::chrono::seconds(1);  // includes the TLS handshake
  // The pause between two attempts doubles up to backoff_max. Each pause is drawn between half of
  // that and all of it.
  Nanos backoff_min = Millis(50);
  Nanos backoff_max = std::chrono::seconds(2);
  std::uint64_t seed = 1;  // for drawing the pauses
  // Grows by the commands that are sent to the server: load of the program's own. Null: they are
  // not counted. It outlives the connection.
  std::atomic<std::uint64_t>* commands = nullptr;
  // The same for the system calls that send them.
  std::atomic<std::uint64_t>* writes = nullptr;
};

// The loop's thread. All references must outlive this object.
class ServerConnection final : public net::FdHandler {
 public:
  // `use`: the purpose of the connection for the log, such as "local copies".
  ServerConnection(net::EventLoop& loop, UpstreamAddress& address, ConnectionProtocol& protocol,
                   const ServerConnectionOptions& options, std::string use)
      : loop_(loop),
        address_(address),
        protocol_(protocol),
        options_(options),
        use_(std::move(use)),
        random_(options.seed) {}
  ~ServerConnection();
  ServerConnection(const ServerConnection&) = delete;

  // The times from the next attempt on.
  void set_options(const ServerConnectionOptions& options) { options_ = options; }

  void connect();
  void close(const std::string& why);  // for good, until connect()
  void retry();                        // connects now, if it waits for its next attempt
  void renew(TimePoint if_before);     // replaces a connection that was made before that
  // Closes a connection, or an attempt, that was begun before the server has moved, and connects to
  // the server that it is now. tick() and flush() do it, too.
  void follow();
  void tick();   // as often as the protocol needs it
  void flush();  // after each call that may have added output
  const std::string& problem() const { return problem_; }  // "" while connected and up
  // The server answers, but refuses what this protocol needs. Other commands may still work.
  bool is_refused() const {
    return !problem_.empty() && (lacks_a_right() || problem_code_ == ErrorCode::kUnsupported);
  }
  bool lacks_a_right() const {
    return !problem_.empty() && problem_code_ == ErrorCode::kPermission;
  }

  void on_readable() override;
  void on_writable() override;

 private:
  void lost(const Error& why);
  void log_loss(const std::string& why) const;
  bool is_outdated() const { return socket_ && moves_ != address_.moves(); }

  net::EventLoop& loop_;
  UpstreamAddress& address_;
  ConnectionProtocol& protocol_;
  ServerConnectionOptions options_;
  const std::string use_;
  std::mt19937_64 random_;
  net::Stream socket_;
  bool connected_ = false;
  bool was_lost_ = false;  // lost, and not up since then
  TimePoint connected_at_{};
  net::TimerId timer_ = 0;  // connect time-out, or the next attempt
  Nanos backoff_{0};
  std::size_t attempt_ = 0;
  std::uint64_t moves_ = 0;  // of the address, before the latest attempt
  std::string problem_ = "not connected yet";
  ErrorCode problem_code_ = ErrorCode::kUnavailable;
};

}  // namespace heatsink::redis
