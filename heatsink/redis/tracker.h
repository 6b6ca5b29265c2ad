// SPDX-License-Identifier: Apache-2.0
// One connection with CLIENT TRACKING: fills and invalidations in the server's own order.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "heatsink/base/byte_buffer.h"
#include "heatsink/base/clock.h"
#include "heatsink/base/result.h"
#include "heatsink/redis/credentials.h"
#include "heatsink/resp/command_table.h"
#include "heatsink/resp/value.h"

namespace heatsink::redis {

struct TrackerOptions {
  Credentials credentials;
  std::string heartbeat_key = "heatsink:heartbeat";
  Nanos heartbeat_interval = Millis(100);
  Nanos max_staleness = std::chrono::seconds(1);  // a heartbeat older than this: stalled
  Nanos response_timeout =
      std::chrono::seconds(10);  // a reply older than this: the connection is given up
  std::uint64_t value_bytes_max = 256 * 1024;
};

// What was learnt of the server on the way in.
struct ServerFacts {
  std::string version;  // "7.0.15", "" if it does not say
  bool open = false;    // a fresh connection may run commands without AUTH
  std::shared_ptr<const resp::CommandTable> commands;  // null: it forbids COMMAND
};

using FillId = std::uint64_t;

struct FillReply {
  enum class Outcome : std::uint8_t {
    kValue,
    kNil,      // no such key
    kTooBig,   // longer than value_bytes_max
    kRefused,  // no string, or not ours to read: do not ask again soon
    kFailed,   // the tracker was lost or stalled before the reply came, or it changed too fast to
               // tell
  };
  FillId id = 0;
  Outcome outcome = Outcome::kFailed;
  TimePoint sent_at{};
  bool spoiled =
      false;  // the key changed between the two reads: good for those who wait, not for keeping
  std::optional<Nanos> ttl;  // counted from sent_at: never later than the server's own expiry
  std::string value;         // kValue
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
// databases.
class Tracker {
 public:
  Tracker(TrackerOptions options, TrackerEvents& events);

  void connected(TimePoint now);
  // The error says why the connection is to be closed; disconnected() is then called by the owner.
  Status received(std::string_view bytes, TimePoint now);
  void disconnected(const std::string& reason);
  // Heartbeats and time-outs; call it at least every heartbeat interval. Error: as received().
  Status tick(TimePoint now);

  // Asks for the string at `key`: GETRANGE, so that no reply is longer than value_bytes_max + 1,
  // and PTTL. REQUIRES now to have been read before the call. When not up: on_filled(kFailed) at
  // once.
  void fill(FillId id, std::string_view key, std::uint32_t db, TimePoint now);
  // REQUIRES token != 0. on_barrier(token) when every invalidation caused before this call has been
  // delivered; at once when not up.
  void barrier(std::uint64_t token, TimePoint now);

  bool up() const { return state_ == State::kUp; }
  ByteBuffer& output() { return output_; }  // to be sent; the owner consumes it

 private:
  enum class State : std::uint8_t { kDisconnected, kHandshake, kUp, kStalled };
  enum class Kind : std::uint8_t {
    kPing,
    kHello,
    kCommand,
    kTracking,
    kHeartbeat,
    kBarrier,
    kSelect,
    kTtl,
    kRead
  };
  struct Expected {
    Kind kind;
    TimePoint sent_at;
    std::uint64_t token = 0;  // kBarrier; FillId of kTtl, kRead
  };
  struct Fill {
    FillReply reply;
    std::string key;
    bool read_done = false;
    bool abandoned = false;  // already reported as failed
  };

  void send(Kind kind, std::initializer_list<std::string_view> args, TimePoint now,
            std::uint64_t token = 0);
  Status on_push(const resp::Value& push);
  Status on_reply(const resp::Value& reply, TimePoint now);
  Status on_answer(const Expected& expected, const resp::Value& reply, TimePoint now);
  Status on_handshake(Kind kind, const resp::Value& reply);
  Status on_proof(const Expected& expected, const resp::Value& reply, TimePoint now);
  Status on_ttl(const resp::Value& reply);
  Status on_read(const resp::Value& reply);
  void invalidate(std::string_view name);
  void flush();
  void stall(const std::string& reason);
  void finish_fill();
  void fail_outstanding();

  const TrackerOptions options_;
  TrackerEvents& events_;
  State state_ = State::kDisconnected;
  ServerFacts facts_;
  ByteBuffer input_;
  ByteBuffer output_;
  std::deque<Expected> expected_;
  std::deque<Fill> fills_;  // in the order sent
  std::uint32_t db_ = 0;
  TimePoint heartbeat_sent_at_{};
  bool heartbeat_in_flight_ = false;
};

}  // namespace heatsink::redis
