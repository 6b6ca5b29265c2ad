// SPDX-License-Identifier: Apache-2.0
// One connection with CLIENT TRACKING: fills and invalidations in the order of the server.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "heatsink/base/byte_buffer.h"
#include "heatsink/base/clock.h"
#include "heatsink/base/result.h"
#include "heatsink/redis/connection_protocol.h"
#include "heatsink/redis/credentials.h"
#include "heatsink/redis/fill.h"
#include "heatsink/redis/fill_source.h"
#include "heatsink/redis/server_use.h"
#include "heatsink/redis/swap_count.h"
#include "heatsink/redis/tracked_names.h"
#include "heatsink/resp/command_table.h"
#include "heatsink/resp/reply_scanner.h"
#include "heatsink/resp/value.h"

namespace heatsink::redis {

struct TrackerOptions {
  Credentials credentials;
  std::string name = "heatsink-tracker";  // as CLIENT LIST shows it
  // False: the connection reads like a fill but gets no invalidations. For the auditor.
  bool tracking = true;
  Nanos rights_interval{0};  // how often it asks for its own user's rights; 0: never
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
  // A longer reply to a fill ends the connection, because the invalidations behind it would come
  // late. Replies between value_bytes_max and this limit are skipped.
  std::uint64_t reply_bytes_max = 8 * 1024 * 1024;
  // The server is a node of a cluster: each heartbeat proves the slots that
  // TrackerEvents::slots_to_prove() names, by a read of a key that does not exist in each of them,
  // and asks what the node believes of the cluster. A redirect ends the proof of its slot only.
  bool is_node = false;
  // A request of a node that waits longer than this ends the connection: what a node that stood
  // still answers is worth nothing (it may have been replaced meanwhile). 0: never.
  Nanos gap_max{0};
  // How often a node is asked what it believes of the cluster, at most; 0: with each proof. CLUSTER
  // INFO takes the server about 40 times as long as the proof of a slot (docs/decisions/0058).
  Nanos epoch_interval{0};
  // At least so often the server is asked for the number of executed SWAPDB (swap_count.h), with a
  // heartbeat; 0: never. After a change, TrackerEvents::on_flush(). Not asked of nodes of a
  // cluster, which have no SWAPDB.
  Nanos swap_interval{0};
  // About so often the server is asked what CPU time it has used (ServerUse), with a heartbeat; 0:
  // never.
  Nanos use_interval{0};
  // After a new connection a node is up when two proofs have been sent so long apart.
  Nanos second_proof_after = Millis(100);
};

// What the handshake tells about the server.
struct ServerFacts {
  std::string version;   // "7.0.15"; "" if unknown
  bool open = false;     // a fresh connection may run commands without AUTH
  bool cluster = false;  // it is a node of a cluster
  std::shared_ptr<const resp::CommandTable> commands;  // null: COMMAND is forbidden
};

// The Tracker calls these from within its own calls, in wire order. They may call fill() and
// barrier().
class TrackerEvents {
 public:
  virtual void on_facts(const ServerFacts& facts) = 0;  // when they become known, before on_up
  virtual void on_up() = 0;                             // proven: fills make sense from now on
  // The server has answered the heartbeat that was sent then.
  virtual void on_heartbeat(TimePoint sent_at) = 0;
  virtual void on_invalidate(std::string_view name) = 0;  // in every database
  virtual void on_flush() = 0;                            // of all names
  // Exactly once per fill(). The reply is the caller's to empty: its strings may be moved.
  virtual void on_filled(FillReply& reply) = 0;
  virtual void on_barrier(std::uint64_t token) = 0;  // exactly once per barrier()
  // on_flush() has told of every exchange of databases (SWAPDB) before `asked_at`. max(): this
  // server has none, or does not tell.
  virtual void on_exchanges_known(TimePoint /*asked_at*/) {}
  // With TrackerOptions::use_interval.
  virtual void on_server_use(const ServerUse& /*use*/) {}
  // With TrackerOptions::is_node. The node says that it does not own the slot, or not for all keys:
  // no copy of it may be served after the next on_heartbeat().
  virtual void on_slot_lost(std::uint16_t /*slot*/) {}
  // The node's current epoch, from a question sent at `asked_at`.
  virtual void on_cluster_epoch(std::uint64_t /*epoch*/, TimePoint /*asked_at*/) {}
  // Whether to ask for the epoch now, although TrackerOptions::epoch_interval is not over.
  virtual bool wants_epoch(TimePoint /*now*/) { return false; }
  // cluster-node-timeout of the node, once per connection.
  virtual void on_node_timeout(Nanos /*timeout*/) {}
  // The slots with copies, or with fills under way, from this node; at least one slot of the node.
  // Valid until the next call.
  virtual std::span<const std::uint16_t> slots_to_prove() { return {}; }
  // The rights of the tracker's user have changed, or the server no longer shows them.
  virtual void on_rights_changed() = 0;
  // No copy made so far may be served. on_up or another on_down may follow. Called before the fills
  // and barriers that fail with it.
  virtual void on_down(const std::string& reason) = 0;

 protected:
  ~TrackerEvents() = default;
};

// A state machine: bytes and times in, bytes (output()) and events out. One thread. Call order:
// `(connected (received | tick | fill | barrier)* disconnected)*`.
//
// It relies on this server behaviour (Redis 7.0): the pushes and replies of one connection come in
// the order of execution; PTTL and GETRANGE track missing keys, too; tracking is one-shot per name
// and covers all databases. Pushes do not report two kinds of changes, so each heartbeat asks for
// them: whether the server has become a replica (HELLO), and in a cluster which slots it owns
// (CLUSTER NODES).
class Tracker final : public ConnectionProtocol, public FillSource {
 public:
  Tracker(TrackerOptions options, TrackerEvents& events);

  // Other times and bounds from now on; the credentials and the name from the next connection on.
  // `tracking` must stay.
  void set_options(TrackerOptions options);

  void connected(TimePoint now) override;
  Status received(std::string_view bytes, TimePoint now) override;
  void disconnected(const std::string& reason) override;
  // Heartbeats and time-outs. Call it at least once per heartbeat interval.
  Status tick(TimePoint now) override;

  // Without copies there is nothing to prove, so heartbeats may slow down to rest_interval (MONITOR
  // shows each of them). A resting tracker sends a heartbeat before a fill if the last one is older
  // than heartbeat_interval, so that the fill asks a server known to be the right one.
  void set_resting(bool resting) { rests_ = resting; }

  // Sends the read and asks for the key's TTL. REQUIRES that `now` was read before the call and,
  // for any read but a string's, that the reply is probably not longer than value_bytes_max. When
  // not up: on_filled(kFailed) at once.
  void fill(FillId id, const FillQuestion& question, TimePoint now) override;
  // Calls on_barrier(token) when all invalidations caused before this call have been delivered;
  // when not up, at once. REQUIRES token != 0. `after_code`: what ran may have exchanged databases:
  // then on_flush() comes first, also if the server does not say whether it has.
  void barrier(std::uint64_t token, TimePoint now, bool after_code = false) override;

  // Local hits are invisible to the server, which would evict the keys as idle. ask_eviction() asks
  // whether the server evicts by use (LRU, LFU); touch() marks the keys as used, with one TOUCH.
  // Both do nothing when not up.
  void ask_eviction(TimePoint now) override;
  bool eviction_known() const override { return evicts_by_use_.has_value(); }
  // True also if the server does not say (INFO is forbidden).
  bool evicts_by_use() const override { return evicts_by_use_.value_or(false); }
  void touch(std::uint32_t db, std::span<const std::string_view> keys, TimePoint now) override;

  std::size_t tracked_names() const { return names_.size(); }

  // True if the server shows the rights of the connection's user (ACL GETUSER is allowed), so that
  // on_rights_changed() is reliable.
  bool rights_known() const override { return rights_.has_value() && !rights_->empty(); }

  // The server of this connection, or of the last one, has said that it is a replica.
  bool found_replica() const { return found_replica_; }

  bool up() const override { return state_ == State::kUp; }
  bool is_up() const override { return up(); }
  ByteBuffer& output() override { return output_; }

 private:
  enum class State : std::uint8_t { kDisconnected, kHandshake, kUp, kStalled };
  enum class Kind : std::uint8_t {
    kPing,
    kHello,
    kCommand,
    kTracking,
    kRole,
    kSlots,
    kView,
    kSlotProof,
    kReadsWhenDown,
    kNodeTimeout,
    kHeartbeat,
    kBarrier,
    kSelect,
    kTtl,
    kEncoding,
    kRead,
    kNames,
    kFieldEnds,
    kEviction,
    kTouch,
    kRights,
    kSwaps,
    kCommandsDone,
    kCpuUsed
  };
  struct Expected {
    Kind kind;
    TimePoint sent_at;
    // kBarrier; or the FillId of kTtl, kEncoding, kRead, kNames, kFieldEnds; or the slot of
    // kSlotProof; or 1 for kSwaps if the copies end unless the answer proves that databases were
    // not exchanged
    std::uint64_t token = 0;
  };
  void send(Kind kind, std::initializer_list<std::string_view> args, TimePoint now,
            std::uint64_t token = 0);
  void expect(Expected expected);
  void ask_rights(TimePoint now);
  bool answers_long() const;
  void ask_swaps(TimePoint now, bool after_code);
  void ask_use(TimePoint now);
  void on_use(Kind kind, const resp::Value& reply, TimePoint now);
  void on_swaps(const Expected& expected, const resp::Value& reply);
  Status keep(std::string_view bytes);
  Status on_element(TimePoint now);
  Status on_push(const resp::Value& push);
  Status on_reply(const resp::Value& reply, TimePoint now);
  Status on_answer(const Expected& expected, const resp::Value& reply, TimePoint now);
  void send_heartbeat(TimePoint now);
  void send_proof(Kind kind, TimePoint now, std::uint64_t token);
  void ask_epoch(TimePoint now);
  void ask_settings(TimePoint now);
  Status check_gap(TimePoint now) const;
  static bool is_cluster_refusal(const resp::Value& reply);
  bool refuses_slot(const Expected& expected, const resp::Value& reply);
  Status on_slot_proof(const resp::Value& reply);
  void on_view(const resp::Value& reply, TimePoint asked_at);
  void on_setting(Kind kind, const resp::Value& reply);
  bool may_be_up(const Expected& proof);
  Nanos heartbeat_pause() const;
  void send_heartbeat_if_due(TimePoint now, Nanos interval);
  Status on_role(const resp::Value& hello);
  Status on_slots(const resp::Value& reply);
  Status on_handshake(Kind kind, const resp::Value& reply);
  Status on_proof(const Expected& expected, const resp::Value& reply, TimePoint now);
  bool asks_field_ends(const FillQuestion& question) const;
  void ask_field_ends(const Fill& fill, std::span<const std::string_view> fields, TimePoint now);
  void ask_names(const Fill& fill, TimePoint now);
  void on_encoding(Fill& fill, const resp::Value& reply);
  void on_fill_reply(const Expected& expected, const resp::Value* reply);
  void on_eviction(const resp::Value& reply);
  void on_rights(const resp::Value& reply);
  void select(std::uint32_t db, TimePoint now);
  void on_select(const resp::Value& reply);
  void invalidate(std::string_view name);
  void flush();
  void stall(const std::string& reason);
  void fail_outstanding();
  void fail_fills();

  TrackerOptions options_;
  TrackerEvents& events_;
  State state_ = State::kDisconnected;
  ServerFacts facts_;
  resp::ReplyScanner scanner_;
  ByteBuffer input_;                 // of the reply or push now arriving
  std::uint64_t element_bytes_ = 0;  // its length so far, kept or not
  ByteBuffer output_;
  std::deque<Expected> expected_;
  std::deque<Fill> fills_;  // under way, in sending order
  TrackedNames names_;
  static constexpr std::uint32_t kUnknownDb = UINT32_MAX;
  std::uint32_t db_ = 0;  // the database that the next request will use
  // The error of the last SELECT; "": the replies are of the right database.
  std::string db_refusal_;
  bool shows_encodings_ = true;  // this connection's server has not refused OBJECT ENCODING
  bool found_replica_ = false;
  bool cluster_ = false;
  std::optional<std::string> slots_;  // the last own_slots() on this connection
  std::optional<bool> evicts_by_use_;
  std::optional<std::string> rights_;  // as the server last described them; "": unknown
  TimePoint rights_asked_at_{};
  SwapCount swaps_;
  TimePoint swaps_asked_at_{};
  ServerUse use_;               // as far as it has been answered
  TimePoint use_asked_from_{};  // not before this
  TimePoint received_at_{};     // of the bytes being processed
  TimePoint heartbeat_sent_at_{};
  bool heartbeat_in_flight_ = false;
  // For a node of a cluster:
  bool proves_by_writing_ = false;           // it may answer reads while the cluster is down
  std::size_t slots_proven_ = 0;             // by the latest heartbeat
  std::uint16_t last_slot_ = 0;              // of the key that ends a heartbeat
  std::optional<TimePoint> first_proof_at_;  // of this connection
  std::optional<TimePoint> epoch_asked_at_;  // the same
  std::optional<std::uint64_t> own_epoch_;   // the same; the node's config epoch
  bool rests_ = false;
};

}  // namespace heatsink::redis
