// SPDX-License-Identifier: Apache-2.0
#include "heatsink/upstream/replica_servers.h"

#include <algorithm>

#include "heatsink/base/log.h"
#include "heatsink/base/printable.h"

namespace heatsink::proxy {
namespace {

using copies::Count;
using topology::ReplicaFault;

constexpr Nanos kAnswerAtLeast = Millis(200);
constexpr Nanos kAnswerAtMost = std::chrono::seconds(1);

// A replica with more refusals than that among so many reads rests.
constexpr int kHealthOf = 64;
constexpr int kRefusalsMax = 32;
constexpr Nanos kRest = std::chrono::seconds(1);

Count count_of(ReplicaFault fault) {
  switch (fault) {
    case ReplicaFault::kSilent:
    case ReplicaFault::kNotReplica:
      return Count::kReplicaSilent;
    case ReplicaFault::kLinkDown:
      return Count::kReplicaLinkDown;
    case ReplicaFault::kSyncing:
      return Count::kReplicaSyncing;
    case ReplicaFault::kOtherHistory:
      return Count::kReplicaOtherHistory;
    case ReplicaFault::kBehind:
    case ReplicaFault::kNone:
      return Count::kReplicaBehind;
  }
  return Count::kReplicaBehind;
}

}  // namespace

// ---- which replica

void ReplicaServers::follow_map() {
  const std::uint64_t version = shared_.replicas.version();
  if (version == version_) return;
  version_ = version;
  map_ = shared_.replicas.map();
  for (Link& link : links_) link.in_map = false;
  for (const topology::ReplicaMap::Shard& shard : map_->shards) {
    for (const auto& replica : shard.replicas) link_of(replica).in_map = true;
  }
}

ReplicaServers::Link& ReplicaServers::link_of(const std::shared_ptr<topology::Replica>& replica) {
  Link*& link = by_replica_[replica.get()];
  if (link == nullptr) {
    link = &links_.emplace_back();
    link->replica = replica;
  }
  return *link;
}

// Not while a session sends: the reads in flight on these connections are repeated.
void ReplicaServers::close_useless() {
  for (Link& link : links_) {
    for (Slot& slot : link.slots) {
      if (!slot.connection) continue;
      const bool is_other =
          slot.connection->ready() && slot.ready_at < link.replica->process_since();
      if (!link.in_map) {
        slot.connection->fail("it is no replica of the upstream any more");
      } else if (is_other) {
        slot.connection->fail("it was restarted, or its name leads to another server");
      }
    }
  }
}

const topology::ReplicaMap::Shard* ReplicaServers::shard_of(std::uint16_t slot) {
  follow_map();
  if (map_ == nullptr) return nullptr;
  const std::shared_ptr<const topology::SlotMap> slots = masters_.slot_map();
  return map_->find(slots == nullptr ? topology::kNoNode : slots->owner(slot));
}

ReplicaServers::Slot* ReplicaServers::ready_for(Link& link, const ReplicaRead& read,
                                                TimePoint owned_since, Count& why) {
  const topology::Replica& replica = *link.replica;
  // In this order: see Replica. Another master is confirmed after all proofs with the one before
  // have ended.
  const TimePoint confirmed_at = shared_.proof.confirmed_at();
  const TimePoint heard_at = replica.heard_at();
  const TimePoint fresh = std::min(replica.no_older_than(), confirmed_at);
  const TimePoint process_since = replica.process_since();
  if (fresh < read.now - read.lag) {
    why = count_of(replica.fault());
    return nullptr;
  }
  if (loop_.now() < link.rests_until) {
    why = Count::kReplicaRefusing;
    return nullptr;
  }
  Slot& slot = slot_of(link, read.protocol);
  if (!slot.connection) connect(link, slot, read.protocol);
  const bool is_open =
      slot.connection && slot.connection->ready() && !slot.connection->is_read_slowly();
  if (!is_open || heard_at < slot.ready_at || slot.ready_at < process_since) {
    why = Count::kReplicaConnecting;
    return nullptr;
  }
  if (fresh < owned_since) {
    why = Count::kReplicaSlot;
    return nullptr;
  }
  if (fresh < read.since) {
    why = Count::kReplicaOwnWrite;
    return nullptr;
  }
  return &slot;
}

ReplicaCarrier::Sent ReplicaServers::send(const ReplicaRead& read, std::string_view request,
                                          Pending&& pending, Count& why) {
  why = Count::kReplicaNone;
  const topology::ReplicaMap::Shard* const shard = shard_of(read.slot);
  if (shard == nullptr) return Sent::kNot;
  TimePoint owned_since = TimePoint::min();
  if (shard->master != topology::kNoNode) {
    const topology::SlotProofs::Proof proof = shared_.replicas.slots.of(read.slot);
    if (proof.master != shard->master || proof.until < read.now - read.lag) {
      why = Count::kReplicaSlot;
      return Sent::kNot;
    }
    owned_since = proof.since;
  }
  candidates_.clear();
  bool any_near = false;
  for (const std::shared_ptr<topology::Replica>& replica : shard->replicas) {
    Count its = Count::kReplicaNone;
    Link& link = link_of(replica);
    if (Slot* const slot = ready_for(link, read, owned_since, its)) {
      candidates_.push_back({&link, slot});
      any_near |= replica->is_near();
    } else {
      why = std::max(why, its);
    }
  }
  if (candidates_.empty()) return Sent::kNot;
  if (any_near)
    std::erase_if(candidates_, [](const Found& each) { return !each.link->replica->is_near(); });
  const std::size_t count = candidates_.size();
  if (read.may_be_master && random_.next() % (count + 1) == 0) return Sent::kMastersTurn;
  std::size_t chosen = random_.next() % count;
  if (count > 1) {
    const std::size_t other = (chosen + 1 + random_.next() % (count - 1)) % count;
    if (candidates_[other].slot->connection->in_flight() <
        candidates_[chosen].slot->connection->in_flight())
      chosen = other;
  }
  const auto [link, slot] = candidates_[chosen];
  link->replica->reads.fetch_add(1, std::memory_order_relaxed);
  if (++link->sent > kHealthOf) link->sent = link->refused = 0;
  pending.number = slot->id;
  if (slot->role.read_sent()) unasked_.push_back(slot);
  send_on(*slot->connection, read, request, std::move(pending));
  return Sent::kToReplica;
}

// ---- whether it still follows its master

ReplicaServers::Found ReplicaServers::find(std::uint32_t number) {
  if (number == 0) return {};  // a question of the proxy's own
  for (Link& link : links_)
    for (Slot& slot : link.slots)
      if (slot.id == number) return {&link, &slot};
  return {};
}

// REQUIRES that the reply comes from a connection of now: a lost one has no whole replies.
void ReplicaServers::ask_master(std::uint32_t number, ReplyQueue::Ticket ticket, Reader& reader) {
  find(number).slot->role.keep(ticket, reader);
}

void ReplicaServers::before_flush() {
  for (Slot* const slot : std::exchange(unasked_, {})) slot->role.ask(slot->connection.get());
}

void ReplicaServers::send_on(Upstream& connection, const ReplicaRead& read,
                             std::string_view request, Pending&& pending) {
  connection.use_db(read.db);
  connection.send(request, std::move(pending));
}

bool ReplicaServers::send_to_master(const ReplicaRead& read, std::string_view request,
                                    Pending& pending) {
  Upstream* const connection =
      masters_.shared(read.protocol, Destination::of_slot(read.slot)).connection;
  const bool is_ready =
      connection != nullptr && !connection->is_read_slowly() && connection->may_use_db(read.db);
  if (!is_ready) return false;
  counters_.add(Count::kForwardedShared);
  send_on(*connection, read, request, std::move(pending));
  return true;
}

// ---- connections

void ReplicaServers::connect(Link& link, Slot& slot, resp::Protocol protocol) {
  const TimePoint now = loop_.now();
  if (slot.tried_at != TimePoint::min() && now - slot.tried_at < slot.backoff) return;
  slot.tried_at = now;
  counters_.add(Count::kUpstreamConnects);
  if (slot.id == 0) slot.id = ++last_id_;
  slot.role.of(link.replica);
  slot.connection =
      std::make_unique<Upstream>(static_cast<Upstream::Host&>(*this), loop_, shared_,
                                 link.replica->address, protocol, Upstream::Login::kOwn, nullptr);
  slot.connection->connect();
}

void ReplicaServers::ready(Upstream& upstream) {
  for (Link& link : links_) {
    for (Slot& slot : link.slots) {
      if (slot.connection.get() != &upstream) continue;
      slot.ready_at = loop_.clock();
      slot.backoff = Nanos(0);
      // A replica of a cluster sends its clients to the master otherwise.
      if (link.replica->is_node) upstream.send_own({"READONLY"});
      return;
    }
  }
}

void ReplicaServers::failed(Upstream& upstream, const std::string& reason) {
  counters_.add(Count::kUpstreamLost);
  for (Link& link : links_) {
    for (Slot& slot : link.slots) {
      if (slot.connection.get() != &upstream) continue;
      const policy::ProxyOptions& options = shared_.options();
      slot.backoff = std::clamp(slot.backoff * 2, options.backoff_min, options.backoff_max);
      slot.tried_at = loop_.now();
      if (link.in_map)
        log_limited(LogLevel::kWarning, "replica " + link.replica->at.text(),
                    "replica " + link.replica->at.text() + " is not read from: " + reason +
                        "; the master answers its reads: look at that server and the network",
                    loop_.now());
      dead_.push_back(std::move(slot.connection));
      slot.role.give_up();
      return;
    }
  }
}

void ReplicaServers::answered(const Pending& pending, const Upstream::Answer& answer) {
  if (pending.session == nullptr) return;
  if (const Found from = find(pending.number); from.link != nullptr && !answer.ok)
    note_refusal(*from.link);
  replies_.answered(pending, answer);
}

// The master answers the read. But each costs a round trip more, for as long as the reason lasts.
void ReplicaServers::note_refusal(Link& link) {
  if (++link.refused <= kRefusalsMax) return;
  rest(link,
       "answers most reads with errors, so it is not read from for a second; the master answers: "
       "compare its ACL users (ACL LIST) and its log with the master's");
}

void ReplicaServers::rest(Link& link, const std::string& why) {
  link.sent = link.refused = 0;
  link.rests_until = loop_.now() + kRest;
  log_limited(LogLevel::kWarning, "refusing replica " + link.replica->at.text(),
              "replica " + link.replica->at.text() + " " + why, loop_.now());
}

// Without ROLE each of its reads would be repeated.
void ReplicaServers::note_role(Link& link) {
  for (Slot& slot : link.slots) {
    const std::string refusal = slot.role.take_refusal();
    if (!refusal.empty())
      rest(link, "does not say which master it follows (" + printable(refusal, 128) +
                     "), so it is not read from for a second; the master answers: grant the "
                     "proxy's user +role there");
  }
}

// The master will answer it; the map of the cluster may be old.
bool ReplicaServers::reroute(Upstream& /*from*/, Pending& /*pending*/, std::string_view /*request*/,
                             std::string_view error) {
  if (error.starts_with("-MOVED")) shared_.cluster.is_stale(std::nullopt);
  return false;
}

// ---- for the worker

// A replica that is slow is worth nothing: the master can answer.
Nanos ReplicaServers::answer_limit() const {
  const Nanos lag = policy::shortest_lag(shared_.current().replica_reads);
  return std::min(std::clamp<Nanos>(lag, kAnswerAtLeast, kAnswerAtMost),
                  shared_.options().response_timeout);
}

void ReplicaServers::check_timeouts(TimePoint now) {
  follow_map();  // also while no client reads
  if (links_.empty()) return;
  close_useless();
  const Nanos limit = answer_limit();
  for (Link& link : links_) {
    note_role(link);
    for (Slot& slot : link.slots)
      if (slot.connection) slot.connection->fail_if_overdue(now, limit);
  }
}

void ReplicaServers::end_turn() {
  dead_.clear();
  if (!unasked_.empty()) return;
  std::erase_if(links_, [this](const Link& link) {
    const bool stays = link.in_map || link.slots[0].connection || link.slots[1].connection;
    if (!stays) by_replica_.erase(link.replica.get());
    return !stays;
  });
}

bool ReplicaServers::owes_nothing() const {
  return std::all_of(links_.begin(), links_.end(), [](const Link& link) {
    return std::all_of(link.slots.begin(), link.slots.end(), [](const Slot& slot) {
      return !slot.connection || slot.connection->owes_nothing();
    });
  });
}

void ReplicaServers::shrink() {
  for (Link& link : links_)
    for (Slot& slot : link.slots)
      if (slot.connection) slot.connection->shrink();
}

std::uint64_t ReplicaServers::memory_bytes() const {
  std::uint64_t bytes = 0;
  for (const Link& link : links_)
    for (const Slot& slot : link.slots)
      bytes += slot.connection ? slot.connection->memory_bytes() : 0;
  return bytes;
}

}  // namespace heatsink::proxy
