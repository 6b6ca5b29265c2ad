// SPDX-License-Identifier: Apache-2.0
// Tracks what a tracker has asked its server and has no reply to yet, in the
// order of sending.
#pragma once

#include <cstdint>
#include <deque>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "heatsink/base/byte_buffer.h"
#include "heatsink/base/clock.h"
#include "heatsink/redis/connection_protocol.h"
#include "heatsink/resp/value.h"

namespace heatsink::redis {

// What a request of a tracker asks, and so which part takes its reply.
enum class Question : std::uint8_t {
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

// A part of a fill; Asked::token is its FillId.
constexpr bool is_of_fill(Question question) {
  return question == Question::kTtl || question == Question::kEncoding ||
         question == Question::kRead || question == Question::kNames ||
         question == Question::kFieldEnds;
}

struct Asked {
  Question question;
  TimePoint sent_at;
  // kBarrier; or the FillId of is_of_fill(); or the slot of kSlotProof; or 1 for kSwaps if the
  // copies end unless the answer proves that databases were not exchanged
  std::uint64_t token = 0;
};

// Owns the bytes to send, the requests without a reply, and the database that
// is selected. One thread. O(1), except on_selected() and take_barriers():
// O(requests without a reply).
class TrackerRequests {
 public:
  // Counts its commands at `protocol`, which outlives it.
  explicit TrackerRequests(ConnectionProtocol& protocol) : protocol_(protocol) {}

  void begin();  // a new connection: in database 0
  void end();    // the connection is lost, and with it all requests

  void send(Question question, std::initializer_list<std::string_view> args, TimePoint now,
            std::uint64_t token = 0);
  void send(Question question, std::span<const std::string_view> args, TimePoint now,
            std::uint64_t token = 0);
  // A request whose bytes the caller has appended to output().
  void expect(const Asked& asked);
  // The next request uses this database.
  void select(std::uint32_t db, TimePoint now);
  ByteBuffer& output() { return output_; }

  bool empty() const { return asked_.empty(); }
  const Asked& oldest() const { return asked_.front(); }  // REQUIRES !empty()
  // Its reply has arrived.
  Asked take_oldest() {
    const Asked asked = asked_.front();
    asked_.pop_front();
    return asked;
  }
  // It was not answered: the connection will end.
  void put_back(const Asked& asked) { asked_.push_front(asked); }

  // The reply to SELECT.
  void on_selected(const resp::Value& reply);
  // The error of the last SELECT: the replies come from another database. "":
  // from the right one.
  const std::string& select_error() const { return select_error_; }

  // Calls `use` with the token of each barrier, once.
  template <class Use>
  void take_barriers(Use use) {
    for (Asked& asked : asked_)
      if (asked.question == Question::kBarrier && asked.token != 0)
        use(std::exchange(asked.token, 0));
  }

 private:
  static constexpr std::uint32_t kUnknownDb = UINT32_MAX;

  ConnectionProtocol& protocol_;
  ByteBuffer output_;
  std::deque<Asked> asked_;
  std::uint32_t db_ = 0;  // the database that the next request will use
  std::string select_error_;
};

}  // namespace heatsink::redis
