// SPDX-License-Identifier: Apache-2.0
// The keeper's part when another server becomes the master: ends all copies, and moves everything
// to the new server.
#include <string>
#include <utility>

#include "heatsink/base/log.h"
#include "heatsink/copies/copy_keeper.h"
#include "heatsink/topology/topology.h"

namespace heatsink::copies {
namespace {

// Whether the address that is connected to stays the same.
bool is_first_of(const topology::LeaderResolver::Addresses& now,
                 const topology::LeaderResolver::Addresses& before) {
  return !now.empty() && !before.empty() && topology::same_address(now.front(), before.front());
}

}  // namespace

void CopyKeeper::begin_watch() {
  topology::LeaderWatchOptions how;
  how.url = shared_.upstream;
  const policy::ProxyOptions& options = shared_.options();
  how.sentinel_credentials = {options.sentinel_user, options.sentinel_password};
  how.tls = [this] { return shared_.upstream_address.tls(); };
  how.connection = shared_.connection_options();
  how.resolved = shared_.upstream_address.addresses();
  watch_ = topology::watch_leader(
      loop_, std::move(how), [this] { return shared_.credentials(); }, *this);
  if (watch_ == nullptr) return;
  has_led_ = !topology::must_be_found(shared_.upstream);
  if (!has_led_) shared_.proof.confirm(TimePoint::min());
  watch_->begin();
  timers_.every(std::chrono::seconds(1), [this] {
    const topology::SentinelCounts counts = watch_->counts();
    shared_.sentinels_known.store(counts.known, std::memory_order_relaxed);
    shared_.sentinels_answering.store(counts.answering, std::memory_order_relaxed);
  });
}

// The order is essential: no copy may be served once any connection leads to the new server.
void CopyKeeper::leader_changed(const topology::LeaderVerdict& verdict,
                                const topology::LeaderResolver::Addresses& addresses, bool renews) {
  redis::UpstreamAddress& server = shared_.upstream_address;
  const std::string before = server.where();
  const bool was_withheld = server.is_withheld();
  const bool is_other = verdict.leader && verdict.leader->text() != before;
  const bool is_elsewhere = renews && !is_first_of(addresses, server.addresses());
  if (!verdict.leader) {
    if (!was_withheld) leave_server();
    server.withhold(verdict.problem);
    if (!was_withheld) follow_server();
  } else if (was_withheld || is_other || renews) {
    leave_server();
    server.move_to(*verdict.leader, addresses);
    if ((is_other || is_elsewhere) && has_led_)
      shared_.leader_changes.fetch_add(1, std::memory_order_relaxed);
    follow_server();
  }
  if (verdict.problem != leader_problem_ || is_other || renews) log_leader(verdict, before, renews);
  leader_problem_ = verdict.problem;
  has_led_ |= verdict.leader.has_value();
}

void CopyKeeper::leader_confirmed(TimePoint at) { shared_.proof.confirm(at); }

void CopyKeeper::leave_server() {
  shared_.proof.confirm(TimePoint::min());
  filler_.on_flush();
  proven_since_move_ = false;
}

// The other connections of this thread follow when they are used next (ServerConnection::follow()).
void CopyKeeper::follow_server() {
  deliver_answers();
  for (KeeperListener* const worker : workers_) worker->server_moved();
  renew_masters();
  tracker_connection_.follow();
  audit_reader_.follow_server();
}

void CopyKeeper::log_leader(const topology::LeaderVerdict& verdict, const std::string& before,
                            bool renews) const {
  if (!verdict.leader)
    return log(has_led_ ? LogLevel::kWarning : LogLevel::kInfo,
               "no upstream is used now: " + verdict.problem);
  const std::string now = verdict.leader->text();
  const std::string ended =
      "all copies were dropped; commands in flight got an error, and their clients have to look "
      "whether they were executed";
  if (!has_led_) {
    log(LogLevel::kInfo, "the master is " + now);
  } else if (now != before) {
    log(LogLevel::kWarning, "upstream is now " + now + ", before it was " + before + ": " + ended);
  } else if (renews) {
    log(LogLevel::kWarning, "connecting to upstream " + now +
                                " anew, because its name leads to another server, or its server "
                                "has become a replica: " +
                                ended);
  } else if (verdict.problem.empty()) {
    log(LogLevel::kInfo, "upstream " + now + " is in use, and no problem with it is left");
  }
  if (!verdict.problem.empty()) log(LogLevel::kWarning, verdict.problem);
}

void CopyKeeper::writes_refused() {
  loop_.post([this] {
    // A server that was a replica from the start is what the operator wants.
    if (watch_ != nullptr && std::exchange(proven_since_move_, false)) watch_->doubt();
  });
}

}  // namespace heatsink::copies
