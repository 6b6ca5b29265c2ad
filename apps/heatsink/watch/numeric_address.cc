// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/watch/numeric_address.h"

#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "heatsink/base/blocked_signals.h"

namespace heatsink::app {

// Outlives its owner while a look-up is under way, which nothing can end.
struct NumericAddress::Shared {
  std::mutex mutex;
  std::vector<net::HostPort> found;
  std::string problem = "its name is not looked up yet";
  bool is_looking = false;
};

NumericAddress::NumericAddress(net::HostPort address) : address_(std::move(address)) {
  if (!net::resolve_numeric(address_).ok()) shared_ = std::make_shared<Shared>();
}

Result<net::HostPort> NumericAddress::at(TimePoint now) {
  if (shared_ == nullptr) return address_;
  const std::lock_guard lock(shared_->mutex);
  if (!shared_->is_looking && (!looked_at_ || now - *looked_at_ >= kLooksEvery)) {
    looked_at_ = now;
    look_up();
  }
  if (!shared_->found.empty()) return shared_->found[tried_ % shared_->found.size()];
  return Error{ErrorCode::kUnavailable, shared_->problem};
}

// REQUIRES the lock.
void NumericAddress::look_up() {
  const BlockedSignals blocked;
  shared_->is_looking = true;
  try {
    std::thread([shared = shared_, address = address_] {
      const Result<std::vector<net::ResolvedAddress>> found = net::resolve(address);
      const std::lock_guard lock(shared->mutex);
      shared->is_looking = false;
      if (!found.ok()) {
        shared->problem = found.error().message;
        return;
      }
      shared->found.clear();
      for (const net::ResolvedAddress& each : *found)
        shared->found.push_back({net::host_text(each), address.port});
    }).detach();
  } catch (const std::system_error& error) {
    shared_->is_looking = false;
    shared_->problem = std::string("cannot start a thread: ") + error.what();
  }
}

}  // namespace heatsink::app
