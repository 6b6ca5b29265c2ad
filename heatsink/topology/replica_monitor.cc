// SPDX-License-Identifier: Apache-2.0
#include "heatsink/topology/replica_monitor.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "heatsink/resp/key_slot.h"
#include "heatsink/topology/replication_info.h"

namespace heatsink::topology {
namespace {

constexpr Nanos kPeerTick = Millis(100);
constexpr std::size_t kZoneBytesMax = 64;

net::RedisUrl url_of_replica(const net::RedisUrl& like, const net::HostPort& server) {
  net::RedisUrl url;
  url.address = server;
  url.user = like.user;
  url.password = like.password;
  url.tls = like.tls;
  return url;
}

}  // namespace

// One replica: what workers see of it, its connection, and its proof.
struct ReplicaMonitor::Link {
  std::shared_ptr<Replica> replica;
  std::unique_ptr<LeaderPeer> peer;
  ReplicaProof proof;
};

struct ReplicaMonitor::Shard {
  MonitoredMaster master;
  std::unique_ptr<LeaderPeer> peer;
  MasterOffsets offsets;
  bool is_answered = true;  // the latest question to the master
  std::vector<std::unique_ptr<Link>> links;
  std::vector<net::HostPort> named;  // as the master said last
};

ReplicaMonitor::ReplicaMonitor(net::EventLoop& loop, ReplicaDirectory& directory,
                               ReplicaMonitorOptions options, ServerCredentials credentials)
    : loop_(loop),
      directory_(directory),
      options_(std::move(options)),
      credentials_(std::move(credentials)),
      resolver_(loop) {}

ReplicaMonitor::~ReplicaMonitor() { loop_.cancel(timer_); }

// ---- when

Nanos ReplicaMonitor::pace() const {
  return idle_ ? kPaceMax : std::clamp<Nanos>(lag_ / kRoundsPerLag, kPaceMin, kPaceMax);
}

void ReplicaMonitor::set_lag(Nanos shortest) {
  if (shortest == lag_) return;
  lag_ = shortest;
  if (lag_ == Nanos(0)) clear();
  // The masters are followed again from the start.
  if (lag_ != Nanos(0) && shards_.empty()) follow(std::exchange(masters_, {}), map_);
  arm();
}

void ReplicaMonitor::set_idle(bool idle) {
  if (std::exchange(idle_, idle) == idle || lag_ == Nanos(0)) return;
  arm();
  if (!idle) turn();
}

void ReplicaMonitor::arm() {
  loop_.cancel(std::exchange(timer_, 0));
  if (lag_ == Nanos(0)) return;
  // A whole number of ticks makes a round.
  const std::int64_t ticks = idle_ ? 1 : (pace() + kPeerTick - Nanos(1)) / kPeerTick;
  timer_ = loop_.call_every(pace() / ticks, [this] { turn(); });
}

// ---- whom

std::size_t ReplicaMonitor::servers() const {
  std::size_t count = shards_.size();
  for (const auto& shard : shards_) count += shard->links.size();
  return count;
}

std::unique_ptr<LeaderPeer> ReplicaMonitor::peer(const net::HostPort& server) {
  LeaderPeerOptions out;
  out.credentials = used_;
  out.tls = options_.url.tls;
  out.context = options_.tls;
  out.connection = options_.connection;
  out.name = "heatsink-replicas";
  return std::make_unique<LeaderPeer>(loop_, resolver_, server, out,
                                      "age of replicas at " + server.text());
}

// An election is over only when a slot has another owner: a map may also be new because it has
// another replica, or another epoch.
void ReplicaMonitor::follow_map(const std::vector<MonitoredMaster>& masters,
                                const std::shared_ptr<const SlotMap>& map) {
  is_cluster_ = map != nullptr;
  const std::shared_ptr<const SlotMap> before = std::exchange(map_, map);
  if (map == nullptr || map == before) return;
  std::vector<NodeIndex> indexes;
  indexes.reserve(masters.size());
  for (const MonitoredMaster& each : masters) indexes.push_back(each.index);
  quorum_.follow(indexes, map->epoch, before != nullptr && before->owners != map->owners);
  for (const std::uint16_t slot : slots_)
    if (before != nullptr && before->owner(slot) != map->owner(slot)) directory_.slots.end(slot);
}

void ReplicaMonitor::prove_slots(std::set<std::uint16_t> slots) {
  while (slots.size() > kSlotsMax) slots.erase(std::prev(slots.end()));
  for (const std::uint16_t slot : slots_)
    if (!slots.contains(slot)) directory_.slots.end(slot);
  slots_ = std::move(slots);
}

void ReplicaMonitor::follow(const std::vector<MonitoredMaster>& masters,
                            const std::shared_ptr<const SlotMap>& map) {
  follow_map(masters, map);
  if (masters == masters_) return;
  masters_ = masters;
  if (lag_ == Nanos(0)) return;
  used_ = credentials_();
  std::vector<std::unique_ptr<Shard>> before = std::exchange(shards_, {});
  for (const MonitoredMaster& master : masters) {
    const auto same = std::find_if(before.begin(), before.end(), [&](const auto& shard) {
      return shard != nullptr && shard->master.index == master.index &&
             shard->master.address == master.address;
    });
    if (same != before.end()) {
      shards_.push_back(std::move(*same));
    } else {
      if (servers() == kServersMax) break;
      shards_.push_back(std::make_unique<Shard>());
      shards_.back()->peer = peer(master.address);
    }
    Shard& shard = *shards_.back();
    shard.master = master;
    if (is_cluster_) set_replicas(shard, master.replicas);
  }
  // Proofs of replicas that have left are of no use: they leave the map.
  for (const auto& shard : before) {
    if (shard == nullptr) continue;
    for (const auto& link : shard->links) link->replica->leave();
  }
  publish_map();
}

void ReplicaMonitor::forget() {
  for (const auto& shard : shards_) {
    shard->offsets.forget();
    shard->peer = peer(shard->master.address);
    for (const auto& link : shard->links) {
      link->proof.no_older_than = TimePoint::min();
      publish(*link);
    }
  }
}

void ReplicaMonitor::clear() {
  forget();
  prove_slots({});
  shards_.clear();
  publish_map();
}

void ReplicaMonitor::set_replicas(Shard& shard, const std::vector<net::HostPort>& wanted) {
  std::vector<std::unique_ptr<Link>> before = std::exchange(shard.links, {});
  for (const net::HostPort& server : wanted) {
    if (server == shard.master.address || shard.links.size() == ReplicationInfo::kReplicasMax)
      continue;
    const auto same = std::find_if(before.begin(), before.end(), [&](const auto& link) {
      return link != nullptr && link->replica->at == server;
    });
    if (same != before.end()) {
      shard.links.push_back(std::move(*same));
      continue;
    }
    if (servers() == kServersMax) break;
    auto link = std::make_unique<Link>();
    link->replica = std::make_shared<Replica>(url_of_replica(options_.url, server), is_cluster_);
    link->peer = peer(server);
    const std::string zone = options_.zones.of(server);
    link->replica->set_zone(zone, !zone.empty() && zone == options_.zone);
    shard.links.push_back(std::move(link));
  }
  for (const auto& link : before)
    if (link != nullptr) link->replica->leave();
}

void ReplicaMonitor::publish_map() {
  is_map_due_ = false;
  auto map = std::make_shared<ReplicaMap>();
  for (const auto& shard : shards_) {
    ReplicaMap::Shard& out = map->shards.emplace_back();
    out.master = shard->master.index;
    out.replicas.reserve(shard->links.size());
    for (const auto& link : shard->links) out.replicas.push_back(link->replica);
  }
  directory_.publish(std::move(map));
}

// ---- rounds

// Peers may not be freed while one of them answers, so lists change here only.
void ReplicaMonitor::turn() {
  const redis::Credentials now_used = credentials_();
  if (now_used.user != used_.user || now_used.password != used_.password) {
    used_ = now_used;
    for (const auto& shard : shards_) {
      shard->peer = peer(shard->master.address);
      for (const auto& link : shard->links) link->peer = peer(link->replica->at);
    }
  }
  for (const auto& shard : shards_)
    if (!is_cluster_) take_named(*shard, shard->named);
  if (is_map_due_) publish_map();
  for (const auto& shard : shards_) {
    shard->peer->tick();
    for (const auto& link : shard->links) link->peer->tick();
  }
  const TimePoint now = loop_.clock();
  if (asked_at_ != TimePoint::min() && now - asked_at_ < pace() - Millis(5)) return;
  asked_at_ = now;
  for (const auto& shard : shards_) {
    // A master that is silent proves nothing, but its earlier answers do.
    if (!shard->is_answered) ask_replicas(*shard);
    ask_master(*shard);
  }
}

void ReplicaMonitor::ask_master(Shard& shard) {
  std::vector<LeaderPeer::Question> questions{{"INFO", "replication"}};
  std::vector<std::uint16_t> slots;
  if (is_cluster_) {
    questions.push_back({"CLUSTER", "INFO"});
    for (const std::uint16_t slot : slots_)
      if (map_->owner(slot) == shard.master.index) slots.push_back(slot);
    for (const std::uint16_t slot : slots)
      questions.push_back({"EXISTS", resp::name_in_slot(slot, options_.missing_key)});
  }
  shard.is_answered = false;
  shard.peer->ask(questions,
                  [this, &shard, slots = std::move(slots)](
                      const Result<std::vector<resp::Value>>& replies, TimePoint asked_at) {
                    shard.is_answered = true;
                    take_master(shard, slots, replies, asked_at);
                  });
}

void ReplicaMonitor::take_master(Shard& shard, const std::vector<std::uint16_t>& slots,
                                 const Result<std::vector<resp::Value>>& replies,
                                 TimePoint asked_at) {
  std::optional<ReplicationInfo> info;
  if (replies.ok() && replies->front().is_text()) info = parse_replication(replies->front().text);
  if (info && info->role == Role::kMaster) {
    const bool is_other = shard.offsets.said(info->history, info->offset, asked_at);
    if (is_other) {
      for (const auto& link : shard.links) link->proof.no_older_than = TimePoint::min();
    }
    if (!is_cluster_) shard.named = std::move(info->replicas);
    if (is_cluster_ && replies->size() == slots.size() + 2) {
      hear_epoch(shard, (*replies)[1], asked_at);
      for (std::size_t i = 0; i < slots.size(); ++i)
        take_slot(shard, slots[i], (*replies)[i + 2], asked_at);
    }
    if (is_other) publish_proofs();
  } else if (replies.ok()) {
    // It is no master any more, or this user may not ask.
    shard.offsets.forget();
    for (const auto& link : shard.links) link->proof.no_older_than = TimePoint::min();
    publish_proofs();
  }
  ask_replicas(shard);
}

// The map may be newer than the question, and the slot another master's.
void ReplicaMonitor::take_slot(const Shard& shard, std::uint16_t slot, const resp::Value& reply,
                               TimePoint asked_at) {
  const bool is_asked =
      map_ != nullptr && slots_.contains(slot) && map_->owner(slot) == shard.master.index;
  if (!is_asked) return;
  if (reply.type == resp::Value::Type::kInteger && reply.integer == 0) {
    directory_.slots.prove(slot, shard.master.index, asked_at, loop_.clock());
    return;
  }
  directory_.slots.end(slot);
  if (reply.is_error() && reply.text.starts_with("MOVED") && options_.map_is_old)
    options_.map_is_old(kNoNode);
}

void ReplicaMonitor::take_named(Shard& shard, const std::vector<net::HostPort>& named) {
  std::vector<net::HostPort> reached;
  reached.reserve(named.size());
  for (const net::HostPort& each : named) reached.push_back(options_.translation.reached(each));
  const bool is_same =
      std::equal(reached.begin(), reached.end(), shard.links.begin(), shard.links.end(),
                 [](const net::HostPort& at, const std::unique_ptr<Link>& link) {
                   return at == link->replica->at;
                 });
  if (is_same) return;
  set_replicas(shard, reached);
  is_map_due_ = true;
}

void ReplicaMonitor::hear_epoch(const Shard& shard, const resp::Value& info, TimePoint asked_at) {
  if (!info.is_text()) return;
  const auto epoch = redis::info_number(info.text, "cluster_current_epoch");
  if (!epoch || *epoch < 0 || *epoch > 1e15) return;
  const TimePoint before = quorum_.agreed_at();
  const bool is_newer = quorum_.heard(shard.master.index, static_cast<std::uint64_t>(*epoch),
                                      asked_at, loop_.clock());
  if (is_newer && options_.map_is_old) options_.map_is_old(shard.master.index);
  if (quorum_.agreed_at() != before) publish_proofs();
}

void ReplicaMonitor::ask_replicas(Shard& shard) {
  for (const auto& link : shard.links) {
    link->peer->ask({{"INFO", "replication"}, {"INFO", "server"}},
                    [this, &shard, each = link.get()](
                        const Result<std::vector<resp::Value>>& replies, TimePoint asked_at) {
                      take_replica(shard, *each, replies, asked_at);
                    });
  }
}

void ReplicaMonitor::take_replica(Shard& shard, Link& link,
                                  const Result<std::vector<resp::Value>>& replies,
                                  TimePoint asked_at) {
  const bool is_text = replies.ok() && replies->front().is_text() && replies->back().is_text();
  const auto info =
      is_text ? parse_replication(replies->front().text) : std::optional<ReplicationInfo>();
  if (!info) {
    MasterOffsets::failed(link.proof);
    if (replies.ok()) link.proof.fault = ReplicaFault::kNotReplica;
    return publish(link);
  }
  const std::string_view server = replies->back().text;
  shard.offsets.judge(*info, redis::info_field(server, "run_id"), asked_at, link.proof);
  Replica& replica = *link.replica;
  const std::string_view zone = redis::info_field(server, "availability_zone");
  if (!zone.empty() && zone.size() <= kZoneBytesMax && zone != replica.zone() &&
      options_.zones.of(replica.at).empty())
    replica.set_zone(std::string(zone), zone == options_.zone);
  if (options_.url.tls && options_.tls) replica.address.set_tls(options_.tls());
  replica.address.set_addresses(link.peer->resolved());
  publish(link);
}

void ReplicaMonitor::publish(const Link& link) {
  TimePoint proven = link.proof.no_older_than;
  if (is_cluster_) proven = std::min(proven, quorum_.agreed_at());
  link.replica->publish(link.proof, proven);
}

void ReplicaMonitor::publish_proofs() {
  for (const auto& shard : shards_)
    for (const auto& link : shard->links) publish(*link);
}

}  // namespace heatsink::topology
