// SPDX-License-Identifier: Apache-2.0
// Holds what all connections to one server share: its address, its TLS settings, and how often it
// was reached.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heatsink/net/net.h"

namespace heatsink::redis {

// Any thread. Calls that need the lock copy a few hundred bytes, once per connection attempt.
class UpstreamAddress {
 public:
  explicit UpstreamAddress(net::RedisUrl url) : url_(std::move(url)) {}

  const net::RedisUrl& url() const { return url_; }
  std::string where() const { return url_.where(); }  // "host:port", "unix:/path"
  // "upstream host:port is not reachable: WHY"
  std::string unreachable(std::string_view why) const {
    return "upstream " + where() + " is not reachable: " + std::string(why);
  }

  // Empty: not resolved yet.
  std::vector<net::ResolvedAddress> addresses() const {
    const std::lock_guard lock(mutex_);
    return addresses_;
  }
  void set_addresses(std::vector<net::ResolvedAddress> addresses) {
    const std::lock_guard lock(mutex_);
    addresses_ = std::move(addresses);
  }
  // Resolves the host name again, which may belong to another machine by now. Blocks meanwhile. On
  // an error the addresses stay unchanged.
  Status look_up() {
    Result<std::vector<net::ResolvedAddress>> found = net::resolve_server(url_);
    if (!found.ok()) return found.error();
    set_addresses(std::move(found).value());
    return Unit{};
  }

  // For new connections; empty: no TLS.
  net::TlsContext tls() const {
    const std::lock_guard lock(mutex_);
    return tls_;
  }
  void set_tls(net::TlsContext context) {
    const std::lock_guard lock(mutex_);
    tls_ = std::move(context);
  }

  // Number of successful logins. A worker may refuse commands without asking the server only while
  // this number has not grown since its last failed attempt. So a client that was served once is
  // not refused on another connection or worker because of an older failure.
  std::atomic<std::uint64_t> contacts{0};

 private:
  const net::RedisUrl url_;
  mutable std::mutex mutex_;
  std::vector<net::ResolvedAddress> addresses_;
  net::TlsContext tls_;
};

}  // namespace heatsink::redis
