// SPDX-License-Identifier: Apache-2.0
// Defines what the relief for reads from replicas needs of the connections to them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "heatsink/base/clock.h"
#include "heatsink/command/pending.h"
#include "heatsink/copies/counters.h"
#include "heatsink/resp/resp.h"

namespace heatsink::proxy {

// A read that a replica may answer.
struct ReplicaRead {
  std::uint16_t slot = 0;  // of its keys
  resp::Protocol protocol = resp::Protocol::kResp2;
  std::uint32_t db = 0;
  TimePoint now{};             // when the proxy had received it
  Nanos lag{0};                // the replica has all that the master had this long before `now`
  TimePoint since{};           // and all that the master had then
  bool may_be_master = false;  // the master takes its share of such reads
};

// One per worker; implemented by ReplicaServers, and by tests. The worker's thread.
class ReplicaCarrier {
 public:
  virtual ~ReplicaCarrier() = default;

  enum class Sent : std::uint8_t {
    kToReplica,
    kNot,          // no replica may answer: `why` says what to count
    kMastersTurn,  // the master is to answer this one
  };
  // Sends the request to a replica that may answer it. Its whole reply, or its loss, goes to
  // pending.session; the request stays valid only for the call.
  virtual Sent send(const ReplicaRead& read, std::string_view request, Pending&& pending,
                    copies::Count& why) = 0;
  // Implemented by the relief of a session.
  class Reader {
   public:
    // What ask_master() asked. False: it follows another master, or does not say so.
    virtual void replica_follows(ReplyQueue::Ticket ticket, bool same_master) = 0;

   protected:
    ~Reader() = default;
  };
  // The whole reply to a read has come: `number` is that of its Pending. Whether the replica still
  // followed its master behind the read is asked with it, and comes with a later reply. `reader`
  // outlives that answer.
  virtual void ask_master(std::uint32_t number, ReplyQueue::Ticket ticket, Reader& reader) = 0;
  // Sends it on a shared connection to the master. False: none is ready, and nothing has changed.
  virtual bool send_to_master(const ReplicaRead& read, std::string_view request,
                              Pending& pending) = 0;
};

}  // namespace heatsink::proxy
