// SPDX-License-Identifier: Apache-2.0
// Asks a server for proofs that it still answers for the names it tracks: one
// read, or before a node of a cluster one for each slot, with what the node
// knows of the cluster.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "heatsink/base/clock.h"
#include "heatsink/base/result.h"
#include "heatsink/redis/tracker_events.h"
#include "heatsink/redis/tracker_requests.h"
#include "heatsink/resp/value.h"

namespace heatsink::redis {

// Owns what is known of one connection's proofs. Most functions are of a node
// (TrackerOptions::is_node). One thread. O(slots) per proof.
class Proofs {
 public:
  // All outlive it.
  Proofs(const TrackerOptions& options, TrackerRequests& requests, TrackerEvents& events)
      : options_(options), requests_(requests), events_(events) {}

  void begin();  // a new connection

  // Sends a proof. The reply to `question`, a heartbeat or a barrier, ends it.
  void send(Question question, TimePoint now, std::uint64_t token);

  // For a heartbeat of a node: more slots than it can prove each interval
  // without harm.
  bool has_many_slots() const;
  // Whether a node has answered a heartbeat or barrier on this connection.
  bool has_first() const { return first_at_.has_value(); }
  // After this timely answer the server may be called up: a node's second one
  // that is late enough.
  bool may_be_up(const Asked& proof);

  // ---- of a node

  void ask_settings(TimePoint now);
  // The reply refuses the request because of its slot or of the cluster's
  // state.
  static bool is_refusal(const resp::Value& reply);
  // The last slot of a proof is refused.
  void on_last_refused() { events_.on_slot_lost(last_slot_); }
  // The replies to kSlotProof, kView, and kReadsWhenDown and kNodeTimeout.
  static Status on_slot_proof(const resp::Value& reply);
  void on_view(const resp::Value& reply, TimePoint asked_at);
  void on_setting(Question question, const resp::Value& reply);

 private:
  void ask_epoch(TimePoint now);

  const TrackerOptions& options_;
  TrackerRequests& requests_;
  TrackerEvents& events_;
  bool proves_by_writing_ = false;           // it may answer reads while the cluster is down
  std::size_t slots_ = 0;                    // proven by the latest heartbeat
  std::uint16_t last_slot_ = 0;              // of the key that ends a proof
  std::optional<TimePoint> first_at_;        // of this connection
  std::optional<TimePoint> epoch_asked_at_;  // the same
  std::optional<std::uint64_t> own_epoch_;   // the same; the node's config epoch
};

}  // namespace heatsink::redis
