// SPDX-License-Identifier: Apache-2.0
// The address of a server, and the TLS settings for connecting to it.
#pragma once

#include <mutex>
#include <utility>
#include <vector>

#include "heatsink/net/net.h"

namespace heatsink::redis {

// Any thread. Each call copies a few hundred bytes under a lock, once per connection attempt.
class UpstreamAddress {
 public:
  explicit UpstreamAddress(net::RedisUrl url) : url_(std::move(url)) {}

  const net::RedisUrl& url() const { return url_; }

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

 private:
  const net::RedisUrl url_;
  mutable std::mutex mutex_;
  std::vector<net::ResolvedAddress> addresses_;
  net::TlsContext tls_;
};

}  // namespace heatsink::redis
