// SPDX-License-Identifier: Apache-2.0
// The part of a Core that counts together with other processes (docs/guides/fleet.md).
#include <algorithm>

#include "heatsink/client/core.h"
#include "heatsink/fleet/fleet.h"
#include "heatsink/net/address.h"

namespace heatsink::client {

// A client has one database, and its keys have no number of it; in the fleet they have.
std::uint32_t Core::database_of(const ClientOptions& options) {
  if (options.server_url.empty()) return 0;
  return net::parse_upstream_url(options.server_url).value().db;
}

std::vector<detect::Summary> Core::counted() {
  std::vector<detect::Summary> counted;
  {
    const std::lock_guard lock(state_mutex_);
    if (window_.window > Nanos{}) counted.push_back(window_);
  }
  if (database_ == 0) return counted;
  for (detect::Summary& window : counted) {
    for (detect::KeyCount& key : window.keys) {
      key.db = database_;
      key.hash = in_db(hash_name(key.key, seed_), database_);
    }
  }
  return counted;
}

void Core::on_fleet(const FleetState& state) {
  const std::lock_guard lock(state_mutex_);
  fleet_ = state;
}

// REQUIRES state_mutex_. While the fleet is not known, this process goes on alone, with its part
// of the thresholds by the number of instances that was known last.
std::vector<detect::FleetWindow> Core::fleet_windows() {
  if (!options_.fleet_enabled) return {};
  if (!fleet_.list) {
    const bool was_known = fleet_.instances > 1;
    judge_alone_as(was_known ? static_cast<std::int64_t>(fleet_.instances) : options_.fleet_size);
    return {};
  }
  judge_alone_as(1);
  std::vector<detect::FleetWindow> windows = fleet::windows_of(*fleet_.list, rules_.measures());
  std::vector<detect::KeyCount>& keys = windows.front().counts.keys;
  std::erase_if(keys, [this](const detect::KeyCount& key) { return key.db != database_; });
  for (detect::KeyCount& key : keys) {
    key.db = 0;
    key.hash = in_db(hash_name(key.key, seed_), 0);
  }
  return windows;
}

}  // namespace heatsink::client
