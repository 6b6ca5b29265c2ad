// SPDX-License-Identifier: Apache-2.0
// Sends reads of hot keys to replicas, if their rules ask for it, and repeats at the master what a
// replica does not answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/copies/touched_keys.h"
#include "heatsink/relief/relief.h"
#include "heatsink/relief/worker_parts.h"
#include "heatsink/upstream/replica_carrier.h"
#include "heatsink/upstream/requester.h"

namespace heatsink::proxy {

// The relief for replicas. One per session; one worker's thread. Inactive unless a rule reads from
// replicas. It outlives its reads in flight, because they count as in flight for the session.
//
// A reply waits until the replica has said, behind the read, that it still follows its master
// (replica_role.h).
//
// Order within a client: a read goes to a replica only if nothing is unanswered that may have
// changed a key, and if the replica has all that the master had when the client's last such reply
// came. A command that may change a key waits until this client's reads at replicas are answered:
// otherwise a read that is repeated at the master would see it. (docs/decisions/0064)
//
// In a cluster a replica does not know that keys of a slot have left its master, or are about to
// (docs/decisions/0063): there only reads of one key go to replicas, and a reply that a missing key
// has, too, counts for nothing.
//
// Memory: the request of each read in flight, and what has arrived of its reply. The replies
// may have about 1 MiB in all, as far as their sizes are known.
class ReplicaReads final : public Relief, private Requester, private ReplicaCarrier::Reader {
 public:
  // Both outlive it.
  ReplicaReads(const WorkerParts& parts, const ReliefContext& client)
      : parts_(parts), client_(client) {}

  bool is_on() const {
    return parts_.replicas != nullptr && !parts_.shared.current().replica_reads.empty();
  }
  bool has_reads() const { return reads_ != nullptr && !reads_->empty(); }  // in flight
  // A read of this key may go to a replica: so it must come to departs().
  bool wants(KeyHash key) const { return is_on() && parts_.shared.hot_keys.has(key); }

  Outcome arrives(const Request& request) {
    if (!knows_start_) begin();
    return has_reads() ? let_pass(request) : Outcome::kPass;
  }
  std::size_t kept_bytes() const {
    return kept_bytes_ + (reads_ == nullptr ? 0 : reads_->capacity() * sizeof(InFlight));
  }
  // Frees the memory of earlier reads, unless one is in flight.
  void shrink() {
    if (reads_ != nullptr && reads_->empty()) reads_.reset();
  }
  // kAnswered: a replica answers, or the master after it.
  Outcome departs(Request& request) { return is_on() ? look(request) : Outcome::kPass; }

 private:
  struct InFlight {
    ReplyQueue::Ticket ticket = ReplyQueue::kNone;
    ReplicaRead read;
    std::string request;
    std::string reply;  // the part that has arrived
    copies::TouchedKeys keys;
    std::uint64_t expected_bytes = 0;
    std::uint16_t sized_as = 0;
    bool in_cluster = false;
  };

  void begin();
  Outcome let_pass(const Request& request);
  Outcome look(Request& request);
  bool may_lag(const Request& request) const;
  bool find_keys(const Request& request, InFlight& made) const;
  bool has_room(const Request& request, InFlight& made) const;
  bool follows_own_write(ReplicaRead& read);
  InFlight take(ReplyQueue::Ticket ticket);
  void replica_follows(ReplyQueue::Ticket ticket, bool same_master) override;
  void repeat(InFlight&& failed);
  void end_in_silence();

  // Requester, for the replicas' connections
  std::uint64_t id() const override { return client_.id; }
  bool closed() const override { return client_.session.requester().closed(); }
  void hold() override {}
  void take_reply(ReplyQueue::Ticket ticket, std::string_view bytes) override;
  void reply_done(Pending& pending, bool ok, const resp::ReplyScanner& reply,
                  std::string_view kept) override;
  void reply_lost(Pending& pending, bool begun, const std::string& problem) override;
  void note_reply_at(TimePoint at) override { client_.session.requester().note_reply_at(at); }
  void note_reply_size(const Pending& pending, std::uint64_t bytes) override {
    client_.session.requester().note_reply_size(pending, bytes);
  }
  void ask_again(std::string_view request, const Pending& pending) override;
  bool may_ask_again(ReplyQueue::Ticket ticket) const override {
    return client_.session.requester().may_ask_again(ticket);
  }
  bool congested() const override { return client_.session.requester().congested(); }

  const WorkerParts& parts_;
  const ReliefContext& client_;
  bool knows_start_ = false;
  ReplyQueue::Ticket seen_effect_ = ReplyQueue::kNone;  // the latest that was answered
  TimePoint written_by_{};  // the replies to this client's own writes had come by then
  std::unique_ptr<std::vector<InFlight>> reads_;  // null: none so far
  std::size_t kept_bytes_ = 0;                    // requests and replies in reads_
  std::uint64_t expected_bytes_ = 0;              // the sum of those in reads_
};

}  // namespace heatsink::proxy
