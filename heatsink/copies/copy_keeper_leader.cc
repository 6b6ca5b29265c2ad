// SPDX-License-Identifier: Apache-2.0
// The keeper's part when another server becomes the master: ends all copies, and moves everything
// to the new server.
#include <string>
#include <utility>

#include "heatsink/base/log.h"
#include "heatsink/copies/copy_keeper.h"
#include "heatsink/topology/topology.h"

namespace heatsink::copies {
void CopyKeeper::begin_watch() {
  if (!topology::is_watched(shared_.upstream)) return;
  topology::LeaderWatchOptions how;
  how.url = shared_.upstream;
  const policy::ProxyOptions& options = shared_.options();
  how.sentinel_credentials = {options.sentinel_user, options.sentinel_password};
  how.tls = [this] { return shared_.upstream_address.tls(); };
  how.connection = shared_.connection_options();
  how.resolved = shared_.upstream_address.addresses();
  const bool has_led = !topology::must_be_found(shared_.upstream);
  if (!has_led) shared_.proof.confirm(TimePoint::min());
  master_.begin(
      std::move(how), [this] { return shared_.credentials(); }, has_led);
  timers_.every(std::chrono::seconds(1), [this] {
    const topology::SentinelCounts counts = master_.counts();
    shared_.sentinels_known.store(counts.known, std::memory_order_relaxed);
    shared_.sentinels_answering.store(counts.answering, std::memory_order_relaxed);
  });
}

void CopyKeeper::leave_master() {
  shared_.proof.confirm(TimePoint::min());
  filler_.on_flush();
}

// The other connections of this thread follow when they are used next (ServerConnection::follow()).
void CopyKeeper::follow_master() {
  deliver_answers();
  for (KeeperListener* const worker : workers_) worker->server_moved();
  renew_masters();
  tracker_connection_.follow();
  audit_reader_.follow_server();
}

void CopyKeeper::master_told(const topology::FollowedMaster::Change& change) {
  const topology::LeaderVerdict& verdict = change.verdict;
  if (change.is_move && (change.is_other || change.is_elsewhere) && change.had_led)
    shared_.leader_changes.fetch_add(1, std::memory_order_relaxed);
  if (!change.is_new_problem && !change.is_other && !change.renews) return;
  if (!verdict.leader)
    return log(change.had_led ? LogLevel::kWarning : LogLevel::kInfo,
               "no upstream is used now: " + verdict.problem);
  const std::string now = verdict.leader->text();
  const std::string ended =
      "all copies were dropped; commands in flight got an error, and their clients have to look "
      "whether they were executed";
  if (!change.had_led) {
    log(LogLevel::kInfo, "the master is " + now);
  } else if (change.is_other) {
    log(LogLevel::kWarning,
        "upstream is now " + now + ", before it was " + change.before + ": " + ended);
  } else if (change.renews) {
    log(LogLevel::kWarning, "connecting to upstream " + now +
                                " anew, because its name leads to another server, or its server "
                                "has become a replica: " +
                                ended);
  } else if (verdict.problem.empty()) {
    log(LogLevel::kInfo, "upstream " + now + " is in use, and no problem with it is left");
  }
  if (!verdict.problem.empty()) log(LogLevel::kWarning, verdict.problem);
}

}  // namespace heatsink::copies
