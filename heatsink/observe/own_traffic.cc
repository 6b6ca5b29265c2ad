// SPDX-License-Identifier: Apache-2.0
#include "heatsink/observe/own_traffic.h"

#include <algorithm>

#include "heatsink/base/heartbeat_key.h"

namespace heatsink::observe {
namespace {

// A client sends HELLO once, and perhaps again to log in. More of them mean a tracker.
constexpr std::uint32_t kHellosOfATracker = 3;

}  // namespace

void OwnTraffic::add(const std::string& address) {
  if (std::ranges::find(own_, address) != own_.end()) return;
  own_.push_back(address);
  if (own_.size() > kOwnMax) own_.pop_front();
}

bool OwnTraffic::is_own(std::string_view address, std::string_view command, std::string_view key) {
  if (std::ranges::find(own_, address) != own_.end()) return true;
  if (command == "hello") {
    if (hellos_.size() >= kConnectionsMax) hellos_.clear();
    std::uint32_t& said = hellos_[std::string(address)];
    said = std::min(said + 1, kHellosOfATracker);
    return false;
  }
  if (command != "exists" || key.empty()) return false;
  if (is_heartbeat_key(key)) return true;
  const auto found = hellos_.find(std::string(address));
  return found != hellos_.end() && found->second >= kHellosOfATracker;
}

}  // namespace heatsink::observe
