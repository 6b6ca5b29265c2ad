// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/followed_servers.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "heatsink/base/log.h"
#include "heatsink/copies/keeper_options.h"

namespace heatsink::copies {
namespace {

constexpr Nanos kClusterTick = Millis(100);
constexpr Nanos kSlotStatsPauseMax = std::chrono::minutes(5);

}  // namespace

FollowedServers::FollowedServers(NodeState& shared, net::EventLoop& loop, Filler& filler,
                                 Auditor& auditor, Owner& owner)
    : shared_(shared),
      loop_(loop),
      filler_(filler),
      owner_(owner),
      tracker_(tracker_options(shared), filler),
      tracker_connection_(loop, shared.upstream_address, tracker_, shared.connection_options(),
                          "local copies"),
      cluster_(
          loop, shared.cluster, [&shared] { return shared.credentials(); },
          shared.connection_options()),
      slot_stats_(loop, cluster_, shared.cluster, shared.slot_usage, shared.seed),
      nodes_(shared, loop, filler),
      keep_alive_(shared.table, tracker_),
      access_(loop, shared),
      rights_(loop, shared),
      audit_reader_(shared, loop, auditor),
      master_(loop, shared.upstream_address, *this) {
  shared.cluster.on_stale([this](std::optional<topology::NodeIndex> hint) { refresh_map(hint); });
  cluster_.on_answer([this] { follow_map(); });
  filler.use(tracker_);
}

FollowedServers::~FollowedServers() = default;

void FollowedServers::begin(PacedTimers& timers) {
  begin_watch(timers);
  timers.every(kClusterTick, [this] { tick_cluster(); });
  if (shared_.upstream.topology == net::Topology::kCluster) {
    begin_cluster();
  } else {
    tracker_connection_.connect();
  }
  audit_reader_.begin();
}

void FollowedServers::tick() {
  const bool has_copies = shared_.table.copies() > 0;
  const bool proves_nothing = !has_copies && !shared_.kept_names.any();
  tracker_.set_resting(proves_nothing);
  nodes_.trackers().set_resting(proves_nothing);
  audit_reader_.set_resting(!has_copies);
  shared_.tracked_keys.store(tracker_.tracked_names() + nodes_.trackers().tracked_names(),
                             std::memory_order_relaxed);
  tracker_connection_.tick();
  nodes_.tick();
}

void FollowedServers::keep_keys_alive() {
  keep_alive_.touch_keys(loop_.clock());
  rights_.tick(loop_.clock());
  tracker_connection_.flush();
}

void FollowedServers::end_turn() {
  tracker_connection_.flush();
  audit_reader_.flush();
  nodes_.trackers().flush();
  audit_reader_.watch_suspects();
}

void FollowedServers::follow_options(const redis::Credentials& before) {
  tracker_.set_options(tracker_options(shared_));
  tracker_connection_.set_options(shared_.connection_options());
  nodes_.options_changed();
  // Another password may be the one that the server accepts.
  if (shared_.credentials().password != before.password) {
    tracker_connection_.retry();
    nodes_.trackers().retry();
  }
  audit_reader_.options_changed();
}

void FollowedServers::learn(const redis::ServerFacts& facts) {
  shared_.upstream_open.store(facts.open, std::memory_order_relaxed);
  shared_.is_cluster_node.store(facts.cluster, std::memory_order_relaxed);
  // Later: this is the tracker's own call.
  if (facts.cluster && shared_.upstream.unix_path.empty() && !cluster_.has_begun())
    loop_.post([this] { begin_cluster(); });
  // The version proves that the login worked.
  if (!facts.version.empty()) rights_.check(facts.cluster, loop_.clock());
}

void FollowedServers::rights_changed() {
  access_.check({});
  rights_.check_again(loop_.clock());
}

void FollowedServers::proof_state_changed(bool is_up) {
  shared_.contact_changes.fetch_add(1, std::memory_order_relaxed);
  if (is_up) master_.note_proof();
  if (!is_up && tracker_.found_replica()) writes_refused();
}

// If the tracker sees its user's rights, and new clients run as that same user (default), the
// server reports every change. Otherwise a probe must check.
void FollowedServers::check_access_if_unreported() {
  if (!source().rights_known() || shared_.credentials().acl_user() != "default") access_.check({});
}

void FollowedServers::retry() {
  tracker_connection_.retry();
  nodes_.trackers().retry();
}

void FollowedServers::renew(TimePoint lost_at) {
  tracker_connection_.renew(lost_at);
  audit_reader_.renew(lost_at);
}

void FollowedServers::begin_watch(PacedTimers& timers) {
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
  timers.every(std::chrono::seconds(1), [this] {
    const topology::SentinelCounts counts = master_.counts();
    shared_.sentinels_known.store(counts.known, std::memory_order_relaxed);
    shared_.sentinels_answering.store(counts.answering, std::memory_order_relaxed);
  });
}

void FollowedServers::leave_master() {
  shared_.proof.confirm(TimePoint::min());
  filler_.on_flush();
}

// The other connections of this thread follow when they are used next (ServerConnection::follow()).
void FollowedServers::follow_master() {
  owner_.server_moved();
  tracker_connection_.follow();
  audit_reader_.follow_server();
}

void FollowedServers::master_told(const topology::FollowedMaster::Change& change) {
  const topology::LeaderVerdict& verdict = change.verdict;
  if (change.is_move && (change.is_other || change.is_elsewhere) && change.had_led)
    shared_.leader_changes.fetch_add(1, std::memory_order_relaxed);
  if (!change.is_new_problem && !change.is_other && !change.renews) return;
  if (!verdict.leader)
    return log(change.had_led ? LogLevel::kWarning : LogLevel::kInfo,
               "no upstream is used now: " + verdict.problem);
  const std::string now = verdict.leader->text();
  const std::string ended =
      "all copies were dropped; "
      "commands in flight got an error, and their clients have to look whether they were executed";
  if (!change.had_led) {
    log(LogLevel::kInfo, "the master is " + now);
  } else if (change.is_other) {
    log(LogLevel::kWarning,
        "upstream is now " + now + ", before it was " + change.before + ": " + ended);
  } else if (change.renews) {
    log(LogLevel::kWarning, "connecting to upstream " + now +
                                " anew, because its name leads to another server, "
                                "or its server has become a replica: " +
                                ended);
  } else if (verdict.problem.empty()) {
    log(LogLevel::kInfo, "upstream " + now + " is in use, and no problem with it is left");
  }
  if (!verdict.problem.empty()) log(LogLevel::kWarning, verdict.problem);
}

// The addresses of the URL are the first to be asked for the map of slots.
void FollowedServers::begin_cluster() {
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
void FollowedServers::follow_map() {
  if (nodes_.follow_map()) owner_.map_changed();
  audit_reader_.follow_map();
}

const redis::FillSource& FollowedServers::source() const {
  if (cluster_.has_begun()) return nodes_.trackers();
  return tracker_;
}

// Each proxy of a fleet asks more seldom, so that the servers answer as often as one proxy asks.
void FollowedServers::tick_cluster() {
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
void FollowedServers::refresh_map(std::optional<topology::NodeIndex> hint) {
  if (refresh_posted_.exchange(true)) return;
  loop_.post([this, hint] {
    refresh_posted_ = false;
    cluster_.refresh_soon(hint);
  });
}

void FollowedServers::add_to(report::Report& report) const {
  const bool in_cluster = cluster_.has_begun();
  report.upstream = in_cluster ? shared_.upstream.where() : shared_.upstream_address.where();
  const std::string withheld = shared_.upstream_address.withheld();
  report.upstream_up = in_cluster ? nodes_.trackers().is_any_reachable()
                                  : withheld.empty() && (tracker_connection_.problem().empty() ||
                                                         tracker_connection_.is_refused());
  if (!report.upstream_up) {
    report.upstream_problem = in_cluster         ? cluster_problem()
                              : withheld.empty() ? tracker_connection_.problem()
                                                 : withheld;
  }
}

// "": a tracker of a node is connected.
std::string FollowedServers::cluster_problem() const {
  const std::string rights = rights_.why_no_copies();
  if (shared_.cluster.map() == nullptr)
    return cluster_.lacks_a_right() && !rights.empty() ? rights : cluster_.problem();
  const std::string problem = nodes_.trackers().problem();
  return problem.empty() || rights.empty() ? problem : problem + "; " + rights;
}

std::string FollowedServers::coherence() const {
  if (!shared_.options().cache_enabled) return "off (cache.enabled is false)";
  if (cluster_.has_begun()) {
    const std::string problem = cluster_problem();
    return problem.empty() ? filler_.state() : problem;
  }
  if (shared_.upstream_address.is_withheld()) return shared_.upstream_address.withheld();
  const bool is_confirmed =
      shared_.proof.confirmed_at() >= loop_.clock() - shared_.options().max_staleness;
  if (tracker_connection_.problem().empty() && filler_.state() == "up" && !is_confirmed)
    return master_.problem().empty() ? "waiting for a majority of the Sentinels to name this master"
                                     : master_.problem();
  if (tracker_connection_.problem().empty()) return filler_.state();
  const std::string rights = tracker_connection_.lacks_a_right() ? rights_.why_no_copies() : "";
  return tracker_connection_.problem() + (rights.empty() ? "" : "; " + rights);
}

}  // namespace heatsink::copies
