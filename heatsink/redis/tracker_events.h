// SPDX-License-Identifier: Apache-2.0
// The options of a tracker, and the events that it reports.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "heatsink/base/clock.h"
#include "heatsink/redis/credentials.h"
#include "heatsink/redis/fill.h"
#include "heatsink/redis/server_use.h"
#include "heatsink/resp/command_table.h"

namespace heatsink::redis {

struct TrackerOptions {
  Credentials credentials;
  std::string name = "heatsink-tracker";  // as CLIENT LIST shows it
  // False: the connection reads like a fill but gets no invalidations. For the
  // auditor.
  bool tracking = true;
  Nanos rights_interval{0};  // between two questions for its user's rights; 0: never
  std::string heartbeat_key = "heatsink:heartbeat";
  Nanos heartbeat_interval = Millis(100);
  Nanos rest_interval = std::chrono::seconds(1);  // between heartbeats while the tracker rests
  Nanos max_staleness = std::chrono::seconds(1);  // an unanswered request older than this: stalled
  Nanos fill_timeout = std::chrono::seconds(1);   // a fill that takes longer ends with kFailed
  // A reply later than this: the tracker closes the connection.
  Nanos response_timeout = std::chrono::seconds(10);
  std::uint64_t value_bytes_max = 256 * 1024;
  // Names that the server may have to remember for this connection.
  std::size_t names_max = SIZE_MAX;
  // A longer reply to a fill ends the connection, because the invalidations
  // behind it would come late. Replies between value_bytes_max and this limit
  // are skipped.
  std::uint64_t reply_bytes_max = 8 * 1024 * 1024;
  // The server is a node of a cluster: each heartbeat proves the slots that
  // TrackerEvents::slots_to_prove() names, by a read of a key that does not
  // exist in each of them, and asks what the node believes of the cluster. A
  // redirect ends the proof of its slot only.
  bool is_node = false;
  // A request of a node that waits longer than this ends the connection: what a
  // node that stood still answers is worth nothing (it may have been replaced
  // meanwhile). 0: never.
  Nanos gap_max{0};
  // How often a node is asked what it believes of the cluster, at most; 0: with
  // each proof. CLUSTER INFO takes the server about 40 times as long as the
  // proof of a slot (docs/decisions/0058).
  Nanos epoch_interval{0};
  // At least so often the server is asked for the number of executed SWAPDB
  // (swap_count.h), with a heartbeat; 0: never. After a change,
  // TrackerEvents::on_flush(). Not asked of nodes of a cluster, which have no
  // SWAPDB.
  Nanos swap_interval{0};
  // About so often the server is asked what CPU time it has used (ServerUse),
  // with a heartbeat; 0: never.
  Nanos use_interval{0};
  // After a new connection a node is up when two proofs have been sent so long
  // apart.
  Nanos second_proof_after = Millis(100);
};

// What the handshake tells about the server.
struct ServerFacts {
  std::string version;   // "7.0.15"; "" if unknown
  bool open = false;     // a fresh connection may run commands without AUTH
  bool cluster = false;  // it is a node of a cluster
  std::shared_ptr<const resp::CommandTable> commands;  // null: COMMAND is forbidden
};

// The Tracker calls these from within its own calls, in wire order. They may
// call fill() and barrier().
class TrackerEvents {
 public:
  virtual void on_facts(const ServerFacts& facts) = 0;  // when they become known, before on_up
  virtual void on_up() = 0;                             // proven: fills make sense from now on
  // The server has answered the heartbeat that was sent then.
  virtual void on_heartbeat(TimePoint sent_at) = 0;
  virtual void on_invalidate(std::string_view name) = 0;  // in every database
  virtual void on_flush() = 0;                            // of all names
  // Exactly once per fill(). The reply is the caller's to empty: its strings
  // may be moved.
  virtual void on_filled(FillReply& reply) = 0;
  virtual void on_barrier(std::uint64_t token) = 0;  // exactly once per barrier()
  // on_flush() has told of every exchange of databases (SWAPDB) before
  // `asked_at`. max(): this server has none, or does not tell.
  virtual void on_exchanges_known(TimePoint /*asked_at*/) {}
  // With TrackerOptions::use_interval.
  virtual void on_server_use(const ServerUse& /*use*/) {}
  // With TrackerOptions::is_node. The node says that it does not own the slot,
  // or not for all keys: no copy of it may be served after the next
  // on_heartbeat().
  virtual void on_slot_lost(std::uint16_t /*slot*/) {}
  // The node's current epoch, from a question sent at `asked_at`.
  virtual void on_cluster_epoch(std::uint64_t /*epoch*/, TimePoint /*asked_at*/) {}
  // Whether to ask for the epoch now, although TrackerOptions::epoch_interval
  // is not over.
  virtual bool wants_epoch(TimePoint /*now*/) { return false; }
  // cluster-node-timeout of the node, once per connection.
  virtual void on_node_timeout(Nanos /*timeout*/) {}
  // The slots with copies, or with fills under way, from this node; at least
  // one slot of the node. Valid until the next call.
  virtual std::span<const std::uint16_t> slots_to_prove() { return {}; }
  // The rights of the tracker's user have changed, or the server no longer
  // shows them.
  virtual void on_rights_changed() = 0;
  // No copy made so far may be served. on_up or another on_down may follow.
  // Called before the fills and barriers that fail with it.
  virtual void on_down(const std::string& reason) = 0;

 protected:
  ~TrackerEvents() = default;
};

}  // namespace heatsink::redis
