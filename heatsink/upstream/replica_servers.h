// SPDX-License-Identifier: Apache-2.0
// Holds one worker's connections to replicas, and chooses the replica that answers a read.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "heatsink/base/random.h"
#include "heatsink/net/net.h"
#include "heatsink/topology/topology.h"
#include "heatsink/upstream/replica_carrier.h"
#include "heatsink/upstream/replica_role.h"
#include "heatsink/upstream/servers_state.h"
#include "heatsink/upstream/upstream.h"
#include "heatsink/upstream/upstreams.h"

namespace heatsink::proxy {

// One worker's thread. A connection for each replica and protocol, opened when a read could use it.
// Between failed attempts it pauses, as for the master. It lives beside Upstreams, because the loss
// of a replica matters to no client: reads in flight are repeated at the master.
//
// A replica may answer a read if it is proven to be no older than the read allows, and the proof is
// younger than the connection: a replica that was restarted since then may have old data. In a
// cluster the replica must also have all that its master had when it proved that the slot is its
// own (topology::SlotProofs). Of those in the proxy's zone, or else of all, the less busy one of
// two random ones is chosen. One that answers most reads with errors is left alone for a second.
class ReplicaServers final : public ReplicaCarrier, private Upstream::Host {
 public:
  // All outlive it. `replies`: of the worker. `random`: a seed.
  ReplicaServers(ServersState& shared, net::EventLoop& loop, copies::Counters& counters,
                 Upstreams& masters, Upstream::Host& replies, std::uint64_t random)
      : shared_(shared),
        loop_(loop),
        counters_(counters),
        masters_(masters),
        replies_(replies),
        random_(random) {}

  Sent send(const ReplicaRead& read, std::string_view request, Pending&& pending,
            copies::Count& why) override;
  void ask_master(std::uint32_t number, ReplyQueue::Ticket ticket, Reader& reader) override;
  bool send_to_master(const ReplicaRead& read, std::string_view request, Pending& pending) override;

  // Called by the worker.
  void before_flush();
  void check_timeouts(TimePoint now);
  void end_turn();
  bool owes_nothing() const;
  void shrink();
  std::uint64_t memory_bytes() const;

 private:
  struct Slot {
    ReplicaRole role;
    std::unique_ptr<Upstream> connection;
    std::uint32_t id = 0;
    TimePoint ready_at{};
    TimePoint tried_at = TimePoint::min();
    Nanos backoff{0};
  };
  struct Link {
    std::shared_ptr<topology::Replica> replica;
    std::array<Slot, 2> slots;  // by protocol
    bool in_map = true;
    int sent = 0, refused = 0;  // of the last kHealthOf reads
    TimePoint rests_until{};
  };
  struct Found {
    Link* link = nullptr;
    Slot* slot = nullptr;
  };

  void follow_map();
  void close_useless();
  Link& link_of(const std::shared_ptr<topology::Replica>& replica);  // makes it, if it is new
  const topology::ReplicaMap::Shard* shard_of(std::uint16_t slot);
  // Whose connection may carry the read; null: `why` says what is wrong. `owned_since`: the master
  // has proven the slot since then.
  Slot* ready_for(Link& link, const ReplicaRead& read, TimePoint owned_since, copies::Count& why);
  Slot& slot_of(Link& link, resp::Protocol protocol) {
    return link.slots[protocol == resp::Protocol::kResp3 ? 1 : 0];
  }
  Found find(std::uint32_t number);  // of a Pending
  void note_refusal(Link& link);
  void note_role(Link& link);
  void rest(Link& link, const std::string& why);
  void connect(Link& link, Slot& slot, resp::Protocol protocol);
  void send_on(Upstream& connection, const ReplicaRead& read, std::string_view request,
               Pending&& pending);
  Nanos answer_limit() const;

  // Upstream::Host
  char* scratch() override { return replies_.scratch(); }
  void flush_later(Upstream& upstream) override { replies_.flush_later(upstream); }
  void ready(Upstream& upstream) override;
  void failed(Upstream& upstream, const std::string& reason) override;
  // What a replica answers may be older than what copies show, so it raises no fence.
  void settle(Pending& /*pending*/, TimePoint /*now*/, copies::Shown /*shown*/) override {}
  void answered(const Pending& pending, const Upstream::Answer& answer) override;
  bool reroute(Upstream& from, Pending& pending, std::string_view request,
               std::string_view error) override;
  void gathered_lost(std::uint32_t /*number*/, const std::string& /*reason*/) override {}
  void note_reply_size(const Pending& pending, std::uint64_t bytes) override {
    replies_.note_reply_size(pending, bytes);
  }

  ServersState& shared_;
  net::EventLoop& loop_;
  copies::Counters& counters_;
  Upstreams& masters_;
  Upstream::Host& replies_;
  Random random_;
  std::shared_ptr<const topology::ReplicaMap> map_;
  std::uint64_t version_ = 0;  // of map_
  // In the order in which maps brought them: addresses in memory differ from run to run. A list,
  // because a lost connection's reads are sent again while it is walked, perhaps to a new link.
  std::list<Link> links_;
  std::unordered_map<const topology::Replica*, Link*> by_replica_;  // for look-ups only
  std::uint32_t last_id_ = 0;                                       // of a slot
  std::vector<Slot*> unasked_;                   // those with reads that are not flushed
  std::vector<std::unique_ptr<Upstream>> dead_;  // freed at the end of the turn
  std::vector<Found> candidates_;                // scratch
};

}  // namespace heatsink::proxy
