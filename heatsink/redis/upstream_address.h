// SPDX-License-Identifier: Apache-2.0
// Holds what all connections to one server share: its address, its TLS settings, and how often it
// was reached. The server may move: then this object has another address.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/net/net.h"

namespace heatsink::redis {

// Any thread. Calls that need the lock copy a few hundred bytes, once per connection attempt.
//
// A connection that was opened before the latest move leads to a server that must not be read or
// written any more. So each connection keeps moves() from before it was opened, and is closed once
// the number differs.
class UpstreamAddress {
 public:
  // What connects resolves the name of the host, unless another object follows the server
  // (kElsewhere): then that one calls move_to() or set_addresses().
  enum class Resolved : std::uint8_t { kHere, kElsewhere };

  explicit UpstreamAddress(net::RedisUrl url, Resolved resolved = Resolved::kHere);

  // The URL of the server now. While there is none: that of the last one, or as configured.
  net::RedisUrl url() const;
  std::string where() const;  // "host:port", "unix:/path"
  // "upstream host:port is not reachable: WHY"
  std::string unreachable(std::string_view why) const;

  // Empty: not resolved yet, or withheld.
  std::vector<net::ResolvedAddress> addresses() const;
  void set_addresses(std::vector<net::ResolvedAddress> addresses);
  // Resolves the host name again, which may belong to another machine by now. Blocks meanwhile. On
  // an error the addresses stay unchanged. kElsewhere: only says why there is no address.
  Status look_up();

  // The server is another one from now on, or the same one whose connections must be made anew. The
  // URL keeps its user, password and TLS.
  void move_to(const net::HostPort& server, std::vector<net::ResolvedAddress> addresses);
  // No server may be read or written from now on until move_to(). `why` is for people.
  void withhold(std::string why);
  // Why there is no server; "": there is one.
  std::string withheld() const;
  bool is_withheld() const { return is_withheld_.load(std::memory_order_acquire); }
  // How often one of the two was called.
  std::uint64_t moves() const { return moves_.load(std::memory_order_acquire); }

  // The server may move, so its connections are lost early if its machine is silent.
  bool may_move() const { return resolved_ == Resolved::kElsewhere; }
  static constexpr Nanos kSilentMachine = std::chrono::seconds(2);

  // For new connections; empty: no TLS.
  net::TlsContext tls() const;
  void set_tls(net::TlsContext context);

  // Number of successful logins. A worker may refuse commands without asking the server only while
  // this number has not grown since its last failed attempt. So a client that was served once is
  // not refused on another connection or worker because of an older failure.
  std::atomic<std::uint64_t> contacts{0};

 private:
  const Resolved resolved_;
  mutable std::mutex mutex_;  // guards what follows, except for the atomics
  net::RedisUrl url_;
  std::vector<net::ResolvedAddress> addresses_;
  std::string withheld_;
  net::TlsContext tls_;
  std::atomic<bool> is_withheld_{false};
  std::atomic<std::uint64_t> moves_{0};
};

}  // namespace heatsink::redis
