// SPDX-License-Identifier: Apache-2.0
// The socket of a ConnectionProtocol: connects, carries bytes, and comes back with back-off.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <utility>

#include "heatsink/net/net.h"
#include "heatsink/redis/connection_protocol.h"
#include "heatsink/redis/upstream_address.h"

namespace heatsink::redis {

struct ServerConnectionOptions {
  Nanos connect_timeout = std::chrono::seconds(1);  // with the TLS handshake
  // Between two attempts: the pause doubles, and of each between half and all is waited.
  Nanos backoff_min = Millis(50);
  Nanos backoff_max = std::chrono::seconds(2);
  std::uint64_t seed = 1;  // of how much is waited
};

// The loop's thread. What it is given must outlive it.
class ServerConnection final : public net::FdHandler {
 public:
  // `use` names for the log what the connection is for: "local copies".
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

  void connect();
  void retry();                     // now, if it waits for its next attempt
  void renew(TimePoint if_before);  // a connection made before that is closed and made again
  void tick();                      // as often as the protocol wants
  void flush();                     // after anything that may have made the protocol speak
  const std::string& problem() const { return problem_; }  // "" while connected and up
  // The server answers, but refuses what the protocol needs: commands of others may well work.
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

  net::EventLoop& loop_;
  UpstreamAddress& address_;
  ConnectionProtocol& protocol_;
  const ServerConnectionOptions options_;
  const std::string use_;
  std::mt19937_64 random_;
  net::Stream socket_;
  bool connected_ = false;
  bool was_lost_ = false;  // and has not been up since
  TimePoint connected_at_{};
  net::TimerId timer_ = 0;  // connect time-out, or the next attempt
  Nanos backoff_{0};
  std::size_t attempt_ = 0;
  std::string problem_ = "not connected yet";
  ErrorCode problem_code_ = ErrorCode::kUnavailable;
};

}  // namespace heatsink::redis
