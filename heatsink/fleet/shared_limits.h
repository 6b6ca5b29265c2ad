// SPDX-License-Identifier: Apache-2.0
// Limits that all instances of a fleet share: their tokens are bought in advance on the server.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "heatsink/distributed/rate_limiter.h"
#include "heatsink/distributed/server.h"
#include "heatsink/limit/shared_limits.h"
#include "heatsink/net/net.h"
#include "heatsink/redis/redis.h"

namespace heatsink::fleet {

// Thread-safe. Opens its connection (one thread, distributed/server.h) with the first limit.
//
// A limiter never blocks. While it has no token and no answer, it is undecided: the caller asks
// again in a millisecond. If the server does not answer within kPatience, each instance keeps to
// its part of the limit by itself: the limit divided by the number of instances.
class ServerLimits final : public limit::SharedLimits {
 public:
  static constexpr Nanos kPatience = Millis(100);
  // Share of a burst that one instance may hold, paid for and unspent.
  static constexpr double kHeldShare = 0.1;

  ServerLimits(std::string fleet, net::RedisUrl url, net::TlsContext tls,
               distributed::ServerOptions options);
  ~ServerLimits() override;

  // Before the first limit: where the server is, if somebody else finds it; it outlives this.
  void follow(redis::UpstreamAddress& followed) { followed_ = &followed; }
  // For limits that the server does not answer; at least 1.
  void set_instances(std::uint64_t instances) { *instances_ = instances; }
  // For connections from now on; limits that are open keep theirs.
  void set_tls(net::TlsContext tls);
  void set_credentials(const std::string& user, const std::string& password);
  // How many commands it has sent to servers.
  std::uint64_t commands() const { return commands_.load(std::memory_order_relaxed); }

  Result<std::shared_ptr<limit::SharedLimit>> open(const std::string& name,
                                                   const limit::LimiterOptions& options,
                                                   std::size_t keys_max) override;

 private:
  const std::string fleet_;
  const std::shared_ptr<std::atomic<std::uint64_t>> instances_;
  std::atomic<std::uint64_t> commands_{0};
  std::mutex mutex_;  // guards the rest
  net::RedisUrl url_;
  net::TlsContext tls_;
  distributed::ServerOptions options_;
  redis::UpstreamAddress* followed_ = nullptr;   // null: see url_
  std::shared_ptr<distributed::Server> server_;  // null: none is open
};

}  // namespace heatsink::fleet
