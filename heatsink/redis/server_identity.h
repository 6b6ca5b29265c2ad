// SPDX-License-Identifier: Apache-2.0
// Checks that a tracker's server is one whose data may be copied, and remembers
// what it is: version, commands, role, slots.
#pragma once

#include <optional>
#include <string>

#include "heatsink/base/result.h"
#include "heatsink/redis/tracker_events.h"
#include "heatsink/redis/tracker_requests.h"
#include "heatsink/resp/value.h"

namespace heatsink::redis {

// Takes replies; asks nothing. An error ends the connection. One thread.
class ServerIdentity {
 public:
  explicit ServerIdentity(TrackerEvents& events) : events_(events) {}  // outlives it

  void begin();  // a new connection, perhaps to another server

  // The replies to kPing, kHello, kCommand and kTracking.
  Status on_handshake(Question question, const resp::Value& reply);
  // The reply to HELLO: also later, because a master becomes a replica without
  // another sign.
  Status on_role(const resp::Value& hello);
  // The reply to CLUSTER NODES; the value: the slots have changed since the
  // last one.
  Result<bool> on_slots(const resp::Value& nodes);

  const ServerFacts& facts() const { return facts_; }
  bool is_in_cluster() const { return is_in_cluster_; }
  bool is_replica() const { return is_replica_; }
  bool knows_slots() const { return slots_.has_value(); }

 private:
  TrackerEvents& events_;
  ServerFacts facts_;
  bool is_replica_ = false;
  bool is_in_cluster_ = false;
  std::optional<std::string> slots_;  // the last own_slots() on this connection
};

}  // namespace heatsink::redis
