// SPDX-License-Identifier: Apache-2.0
// What the keeper does if the upstream is a cluster: the map of slots, and copies from all nodes.
#include <algorithm>
#include <optional>
#include <vector>

#include "heatsink/copies/copy_keeper.h"

namespace heatsink::copies {
namespace {

constexpr Nanos kSlotStatsPauseMax = std::chrono::minutes(5);

}  // namespace

// The addresses of the URL are the first to be asked for the map of slots.
void CopyKeeper::begin_cluster() {
  std::vector<net::HostPort> seeds = shared_.upstream.others;
  seeds.insert(seeds.begin(), shared_.upstream.address);
  cluster_.begin(seeds);
  // Copies come from all nodes from now on.
  filler_.use(nodes_.trackers());
  keep_alive_.use(nodes_.trackers());
  tracker_connection_.close("the server is a node of a cluster");
  audit_reader_.begin_cluster();
}

// A node has said which map it has.
void CopyKeeper::follow_map() {
  if (nodes_.follow_map())
    for (KeeperListener* const worker : workers_) worker->map_changed();
  audit_reader_.follow_map();
}

const redis::FillSource& CopyKeeper::source() const {
  if (cluster_.has_begun()) return nodes_.trackers();
  return tracker_;
}

// Each proxy of a fleet asks more seldom, so that the servers answer as often as one proxy asks.
void CopyKeeper::tick_cluster() {
  cluster_.tick();
  if (!cluster_.has_begun()) return;
  // Without a map there is no tracker, which would see that the server is there.
  const bool is_known = !rights_.why_no_copies().empty();
  if (shared_.cluster.map() == nullptr && cluster_.lacks_a_right() && !is_known)
    rights_.check(true, loop_.clock());
  const Nanos pause = shared_.options().slot_stats_interval;
  const auto proxies = static_cast<std::int64_t>(shared_.fleet_instances.load());
  slot_stats_.tick(std::max(pause, std::min(pause * proxies, kSlotStatsPauseMax)));
}

// Any thread. Many requests may find out at once that the map is old.
void CopyKeeper::refresh_cluster(std::optional<topology::NodeIndex> hint) {
  if (refresh_posted_.exchange(true)) return;
  loop_.post([this, hint] {
    refresh_posted_ = false;
    cluster_.refresh_soon(hint);
  });
}

void CopyKeeper::server_is_back() {
  loop_.post([this] {
    tracker_connection_.retry();
    nodes_.trackers().retry();
  });
}

}  // namespace heatsink::copies
