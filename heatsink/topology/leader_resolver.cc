// SPDX-License-Identifier: Apache-2.0
#include "heatsink/topology/leader_resolver.h"

#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "heatsink/base/blocked_signals.h"

namespace heatsink::topology {

// The threads may outlive the resolver and its loop.
struct LeaderResolver::Shared {
  std::mutex mutex;
  net::EventLoop* loop = nullptr;  // null: the resolver is gone
  std::size_t running = 0;         // the loop's thread only
};

LeaderResolver::LeaderResolver(net::EventLoop& loop) : shared_(std::make_shared<Shared>()) {
  shared_->loop = &loop;
}

LeaderResolver::~LeaderResolver() {
  const std::lock_guard lock(shared_->mutex);
  shared_->loop = nullptr;
}

bool LeaderResolver::is_numeric(const std::string& host) {
  return !net::network_of(net::HostPort{host, 1}.text()).empty();
}

void LeaderResolver::resolve(const net::HostPort& address, const Done& done) {
  if (is_numeric(address.host)) return done(net::resolve(address));
  if (shared_->running >= kLookUpsMax)
    return done(Error{ErrorCode::kUnavailable,
                      "cannot resolve \"" + address.host + "\": the name server does not answer"});
  const BlockedSignals blocked;
  try {
    std::thread([shared = shared_, address, done] {
      auto found = std::make_shared<Result<Addresses>>(net::resolve(address));
      const std::lock_guard lock(shared->mutex);
      if (shared->loop == nullptr) return;
      // The loop may drop this, but runs it only while the resolver is there.
      shared->loop->post([shared, found, done] {
        --shared->running;
        if (shared->loop != nullptr) done(std::move(*found));
      });
    }).detach();
    ++shared_->running;
  } catch (const std::system_error& refused) {
    done(Error{ErrorCode::kUnavailable,
               "cannot resolve \"" + address.host + "\": no thread: " + refused.code().message()});
  }
}

}  // namespace heatsink::topology
