// SPDX-License-Identifier: Apache-2.0
// Asks a replica behind the reads of each flush which master it follows, and holds their replies
// until it has said so.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "heatsink/topology/replica_directory.h"
#include "heatsink/upstream/own_requester.h"
#include "heatsink/upstream/replica_carrier.h"

namespace heatsink::proxy {

// A replica that was given another master, or none, has other data at once, and the monitor asks
// four times per replica-lag only. So a read counts when the replica has said, behind it, that it
// follows the master of its latest proof and is connected to it: ROLE, one for all reads of a
// flush. Without such a reply the reads are repeated at the master (docs/decisions/0085).
//
// One per connection to a replica; it outlives what it sends there. One worker's thread. Memory: an
// entry for each reply that is held; the relief of each session bounds their number and bytes.
class ReplicaRole final : public OwnRequester {
 public:
  ReplicaRole() = default;
  ~ReplicaRole() = default;

  void of(std::shared_ptr<const topology::Replica> replica) { replica_ = std::move(replica); }
  // A read has been sent on the connection. True: the first one since ask().
  bool read_sent() { return !std::exchange(is_due_, true); }
  // Before the connection is flushed. Null: it is lost.
  void ask(Upstream* connection);
  // The reply to a read on the connection has come.
  void keep(ReplyQueue::Ticket ticket, ReplicaCarrier::Reader& reader) {
    held_.push_back({ticket, &reader});
  }
  // The connection is lost: the replies that are held cannot be proven.
  void give_up() { release(false); }
  // The error with which the replica refused ROLE since the last call; "": none.
  std::string take_refusal() { return std::exchange(refusal_, {}); }

  // True: the reply to ROLE is that of a replica which is connected to the master of its proof.
  static bool agrees(const resp::Value& role, const topology::Replica& replica);

 private:
  struct Held {
    ReplyQueue::Ticket ticket;
    ReplicaCarrier::Reader* reader;
  };

  void answered(ReplyQueue::Ticket ticket, const resp::Value& reply) override;
  void lost(ReplyQueue::Ticket ticket, const std::string& problem) override;
  void release(bool same_master);

  std::shared_ptr<const topology::Replica> replica_;
  bool is_due_ = false;
  ReplyQueue::Ticket last_ = ReplyQueue::kNone;
  std::vector<Held> held_;
  std::string refusal_;
};

}  // namespace heatsink::proxy
