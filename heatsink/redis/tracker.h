// SPDX-License-Identifier: Apache-2.0
// One connection with CLIENT TRACKING: fills and invalidations in the order of
// the server.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "heatsink/base/byte_buffer.h"
#include "heatsink/base/clock.h"
#include "heatsink/base/result.h"
#include "heatsink/redis/connection_protocol.h"
#include "heatsink/redis/fill.h"
#include "heatsink/redis/fill_source.h"
#include "heatsink/redis/fills.h"
#include "heatsink/redis/proofs.h"
#include "heatsink/redis/server_identity.h"
#include "heatsink/redis/server_questions.h"
#include "heatsink/redis/tracked_names.h"
#include "heatsink/redis/tracker_events.h"  // IWYU pragma: export
#include "heatsink/redis/tracker_requests.h"
#include "heatsink/resp/reply_scanner.h"
#include "heatsink/resp/value.h"

namespace heatsink::redis {

// A state machine: bytes and times in, bytes (output()) and events out. One
// thread. Call order:
// `(connected (received | tick | fill | barrier)* disconnected)*`.
//
// It relies on this server behaviour (Redis 7.0): the pushes and replies of one
// connection come in the order of execution; PTTL and GETRANGE track missing
// keys, too; tracking is one-shot per name and covers all databases. Pushes do
// not report two kinds of changes, so each heartbeat asks for them: whether the
// server has become a replica (HELLO), and in a cluster which slots it owns
// (CLUSTER NODES).
//
// It reads the input, holds the state of the connection and the order of what a
// heartbeat asks. Its parts own the rest:
// docs/decisions/0132-the-library-is-a-composition.md.
class Tracker final : public ConnectionProtocol, public FillSource {
 public:
  Tracker(TrackerOptions options, TrackerEvents& events);
  Tracker(const Tracker&) = delete;

  // Other times and bounds from now on; the credentials and the name from the
  // next connection on. `tracking` must stay.
  void set_options(TrackerOptions options);

  void connected(TimePoint now) override;
  Status received(std::string_view bytes, TimePoint now) override;
  void disconnected(const std::string& reason) override;
  // Heartbeats and time-outs. Call it at least once per heartbeat interval.
  Status tick(TimePoint now) override;

  // Without copies there is nothing to prove, so heartbeats may slow down to
  // rest_interval (MONITOR shows each of them). A resting tracker sends a
  // heartbeat before a fill if the last one is older than heartbeat_interval,
  // so that the fill asks a server known to be the right one.
  void set_resting(bool resting) { rests_ = resting; }

  // Sends the read and asks for the key's TTL. REQUIRES that `now` was read
  // before the call and, for any read but a string's, that the reply is
  // probably not longer than value_bytes_max. When not up: on_filled(kFailed)
  // at once.
  void fill(FillId id, const FillQuestion& question, TimePoint now) override;
  // Calls on_barrier(token) when all invalidations caused before this call have
  // been delivered; when not up, at once. REQUIRES token != 0. `after_code`:
  // what ran may have exchanged databases: then on_flush() comes first, also if
  // the server does not say whether it has.
  void barrier(std::uint64_t token, TimePoint now, bool after_code = false) override;

  // Local hits are invisible to the server, which would evict the keys as idle.
  // ask_eviction() asks whether the server evicts by use (LRU, LFU); touch()
  // marks the keys as used, with one TOUCH. Both do nothing when not up.
  void ask_eviction(TimePoint now) override;
  bool eviction_known() const override { return questions_.evicts_by_use().has_value(); }
  // True also if the server does not say (INFO is forbidden).
  bool evicts_by_use() const override { return questions_.evicts_by_use().value_or(false); }
  void touch(std::uint32_t db, std::span<const std::string_view> keys, TimePoint now) override;

  std::size_t tracked_names() const { return names_.size(); }

  // True if the server shows the rights of the connection's user (ACL GETUSER
  // is allowed), so that on_rights_changed() is reliable.
  bool rights_known() const override { return questions_.shows_rights(); }

  // The server of this connection, or of the last one, has said that it is a
  // replica.
  bool found_replica() const { return server_.is_replica(); }

  bool up() const override { return state_ == State::kUp; }
  bool is_up() const override { return up(); }
  ByteBuffer& output() override { return requests_.output(); }

 private:
  enum class State : std::uint8_t { kDisconnected, kHandshake, kUp, kStalled };

  // ---- what arrives
  bool answers_long() const;
  Status keep(std::string_view bytes);
  Status on_element(TimePoint now);
  Status on_push(const resp::Value& push);
  Status on_reply(const resp::Value& reply, TimePoint now);
  Status on_answer(const Asked& asked, const resp::Value& reply, TimePoint now);
  Status on_proof(const Asked& asked, const resp::Value& reply, TimePoint now);
  Status on_slots(const resp::Value& nodes);
  void on_swaps(const Asked& asked, const resp::Value& reply);
  void on_fill_reply(const Asked& asked, const resp::Value* reply);
  bool refuses_slot(const Asked& asked, const resp::Value& reply);
  void flush();

  // ---- what is sent, and when
  void send_heartbeat(TimePoint now);
  void send_heartbeat_if_due(TimePoint now, Nanos interval);
  void ask_swaps(TimePoint now, bool after_code);
  Nanos heartbeat_pause() const;

  Status check_gap(TimePoint now) const;
  void stall(const std::string& reason);
  void fail_outstanding();

  TrackerOptions options_;
  TrackerEvents& events_;
  State state_ = State::kDisconnected;
  bool rests_ = false;
  resp::ReplyScanner scanner_;
  ByteBuffer input_;                 // of the reply or push now arriving
  std::uint64_t element_bytes_ = 0;  // its length so far, kept or not
  TimePoint received_at_{};          // of the bytes being processed
  TimePoint heartbeat_sent_at_{};
  bool heartbeat_in_flight_ = false;
  TrackedNames names_;
  TrackerRequests requests_{*this};
  ServerIdentity server_{events_};
  ServerQuestions questions_{options_, requests_, events_};
  Proofs proofs_{options_, requests_, events_};
  Fills fills_{options_, requests_, events_};
};

}  // namespace heatsink::redis
