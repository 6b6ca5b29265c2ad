// SPDX-License-Identifier: Apache-2.0
// One connection with CLIENT TRACKING: fills and invalidations in the server's own order.
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
#include "heatsink/redis/tracked_names.h"
#include "heatsink/resp/command_table.h"
#include "heatsink/resp/reply_scanner.h"
#include "heatsink/resp/value.h"

namespace heatsink::redis {

struct TrackerOptions {
  Credentials credentials;
  std::string name = "heatsink-tracker";  // in CLIENT LIST
  // Off: it reads as fills do and is told nothing of changes, for whoever compares.
  bool tracking = true;
  Nanos rights_interval{0};  // how often it asks what its own user may do; 0: never
  std::string heartbeat_key = "heatsink:heartbeat";
  Nanos heartbeat_interval = Millis(100);
  Nanos rest_interval = std::chrono::seconds(1);  // of heartbeats while it rests
  Nanos max_staleness = std::chrono::seconds(1);  // a heartbeat older than this: stalled
  Nanos fill_timeout = std::chrono::seconds(1);   // who waits longer for a fill gets kFailed
  Nanos response_timeout =
      std::chrono::seconds(10);  // a reply older than this: the connection is given up
  std::uint64_t value_bytes_max = 256 * 1024;
  std::size_t names_max = SIZE_MAX;  // that the server may have to remember for this connection
  // A reply to a fill that is longer ends the connection: what is behind it, invalidations too,
  // would come late. Longer ones than value_bytes_max, up to this, are let pass unread.
  std::uint64_t reply_bytes_max = 8 * 1024 * 1024;
};

// What was learnt of the server on the way in.
struct ServerFacts {
  std::string version;   // "7.0.15", "" if it does not say
  bool open = false;     // a fresh connection may run commands without AUTH
  bool cluster = false;  // it is a node of one
  std::shared_ptr<const resp::CommandTable> commands;  // null: it forbids COMMAND
};

// Called from within the Tracker's calls, in wire order. They may call fill() and barrier().
class TrackerEvents {
 public:
  virtual void on_facts(const ServerFacts& facts) = 0;  // as they become known, before on_up
  virtual void on_up() = 0;                             // proven: from now on fills make sense
  virtual void on_heartbeat(TimePoint sent_at) = 0;  // the server has answered what was sent then
  virtual void on_invalidate(std::string_view name) = 0;  // in every database
  virtual void on_flush() = 0;                            // all names
  virtual void on_filled(const FillReply& reply) = 0;     // exactly once per fill()
  virtual void on_barrier(std::uint64_t token) = 0;       // exactly once per barrier()
  // Its user may do something else than when it was asked before, or nobody can tell any longer.
  virtual void on_rights_changed() = 0;
  // Nothing cached so far may be served; may be followed by on_up, or by another on_down. Before
  // the fills and barriers that fail with it.
  virtual void on_down(const std::string& reason) = 0;

 protected:
  ~TrackerEvents() = default;
};

// A state machine: bytes and times in, bytes (output()) and events out. One thread. The protocol:
// `(connected (received | tick | fill | barrier)* disconnected)*`. Server behaviour it rests on
// (Redis 7.0): pushes and replies of one connection come in the order of execution; PTTL and
// GETRANGE are tracked also for missing keys; tracking is one-shot per name and the same for all
// databases. What it does not tell by pushes is asked for with each heartbeat: that it is no
// replica (HELLO), and in a cluster which slots it owns (CLUSTER NODES).
class Tracker final : public ConnectionProtocol {
 public:
  Tracker(TrackerOptions options, TrackerEvents& events);

  void connected(TimePoint now) override;
  Status received(std::string_view bytes, TimePoint now) override;
  void disconnected(const std::string& reason) override;
  // Heartbeats and time-outs; call it at least every heartbeat interval.
  Status tick(TimePoint now) override;

  // While there is no copy to be proven (`yes`), heartbeats go at rest_interval: whoever looks at
  // the server with MONITOR sees each. A fill then has one sent before it, if the last is older
  // than heartbeat_interval, so that it is asked of a server known to be the right one.
  void set_resting(bool resting) { rests_ = resting; }

  // Asks the question and for the key's TTL. REQUIRES now to have been read before the call, and,
  // for anything but a string, that the reply is not expected to be longer than value_bytes_max.
  // When not up: on_filled(kFailed) at once.
  void fill(FillId id, const FillQuestion& question, TimePoint now);
  // REQUIRES token != 0. on_barrier(token) when every invalidation caused before this call has been
  // delivered; at once when not up.
  void barrier(std::uint64_t token, TimePoint now);

  // The server does not see reads that are served from copies, and would evict the keys as idle.
  // ask_eviction() asks whether it evicts by use (LRU, LFU) at all; touch() tells it that the keys
  // are in use, in one TOUCH. When not up they do nothing.
  void ask_eviction(TimePoint now);
  bool eviction_known() const { return evicts_by_use_.has_value(); }
  // A server that does not say (INFO is forbidden) is taken to.
  bool evicts_by_use() const { return evicts_by_use_.value_or(false); }
  void touch(std::uint32_t db, std::span<const std::string_view> keys, TimePoint now);

  std::size_t tracked_names() const { return names_.size(); }

  // Whether the server says what the connection's user may do (ACL GETUSER is not forbidden), so
  // that on_rights_changed() can be relied on.
  bool rights_known() const { return rights_.has_value() && !rights_->empty(); }

  bool up() const override { return state_ == State::kUp; }
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
    kHeartbeat,
    kBarrier,
    kSelect,
    kTtl,
    kRead,
    kEviction,
    kTouch,
    kRights
  };
  struct Expected {
    Kind kind;
    TimePoint sent_at;
    std::uint64_t token = 0;  // kBarrier; FillId of kTtl, kRead
  };
  void send(Kind kind, std::initializer_list<std::string_view> args, TimePoint now,
            std::uint64_t token = 0);
  void ask_rights(TimePoint now);
  bool answers_read() const;
  Status keep(std::string_view bytes);
  Status on_element(TimePoint now);
  Status on_push(const resp::Value& push);
  Status on_reply(const resp::Value& reply, TimePoint now);
  Status on_answer(const Expected& expected, const resp::Value& reply, TimePoint now);
  void send_heartbeat(TimePoint now);
  void send_heartbeat_if_due(TimePoint now, Nanos interval);
  Status on_role(const resp::Value& hello);
  Status on_slots(const resp::Value& reply);
  Status on_handshake(Kind kind, const resp::Value& reply);
  Status on_proof(const Expected& expected, const resp::Value& reply, TimePoint now);
  void on_read(const resp::Value* reply);
  void on_eviction(const resp::Value& reply);
  void on_rights(const resp::Value& reply);
  void select(std::uint32_t db, TimePoint now);
  void on_select(const resp::Value& reply);
  void invalidate(std::string_view name);
  void flush();
  void stall(const std::string& reason);
  void finish_fill();  // if it is complete
  void fail_outstanding();
  void fail_fills();

  const TrackerOptions options_;
  TrackerEvents& events_;
  State state_ = State::kDisconnected;
  ServerFacts facts_;
  resp::ReplyScanner scanner_;
  ByteBuffer input_;                 // of the reply or push now coming
  std::uint64_t element_bytes_ = 0;  // of it, kept or not
  ByteBuffer output_;
  std::deque<Expected> expected_;
  std::deque<Fill> fills_;  // in the order sent
  TrackedNames names_;
  static constexpr std::uint32_t kUnknownDb = UINT32_MAX;
  std::uint32_t db_ = 0;    // that the next request will meet
  std::string db_refusal_;  // the error to the last SELECT; "": what is answered now is of its db
  bool cluster_ = false;
  std::optional<std::string> slots_;  // own_slots(), as heard last on this connection
  std::optional<bool> evicts_by_use_;
  std::optional<std::string> rights_;  // as the server described them last; "": it does not say
  TimePoint rights_asked_at_{};
  TimePoint received_at_{};  // of the bytes now being read
  TimePoint heartbeat_sent_at_{};
  bool heartbeat_in_flight_ = false;
  bool rests_ = false;
};

}  // namespace heatsink::redis
