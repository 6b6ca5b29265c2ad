// SPDX-License-Identifier: Apache-2.0
// Makes the commands of a fill, and a copy from their two replies.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "heatsink/base/clock.h"
#include "heatsink/resp/resp2_form.h"
#include "heatsink/resp/value.h"

namespace heatsink::redis {

using FillId = std::uint64_t;

struct FillReply {
  enum class Outcome : std::uint8_t {
    kValue,
    kNil,         // no such key
    kTooBig,      // longer than value_bytes_max
    kRefused,     // of another type, or not ours to read: do not ask again soon
    kNoDatabase,  // the server refuses SELECT of it, and `refusal` is what it said
    kTableFull,   // TrackerOptions::names_max is used up: it was not asked
    kFailed,  // the tracker was lost or stalled before the reply came, or it changed too fast to
              // tell
  };
  FillId id = 0;
  Outcome outcome = Outcome::kFailed;
  TimePoint sent_at{};
  TimePoint answered_at{};  // read after both replies were; of a failed one not set
  bool spoiled =
      false;  // the key changed between the two reads: good for those who wait, not for keeping
  std::optional<Nanos> ttl;  // counted from sent_at: never later than the server's own expiry
  std::string reply;         // kValue, kNil: what the read answers, in RESP3
  std::string resp2;         // likewise in RESP2, if that differs
  std::string refusal;       // kNoDatabase

  bool usable() const { return outcome == Outcome::kValue || outcome == Outcome::kNil; }
};

// A read of one key, as a request.
struct FillQuestion {
  std::string_view key;
  std::uint32_t db = 0;
  // The whole request. Empty: the string at `key`, as GET answers, asked for in such a way that no
  // reply is longer than value_bytes_max + 1.
  std::span<const std::string_view> request = {};
  resp::Resp2Form form = {};
};

// The two replies of one fill, as they come. A string is read before its TTL, since GETRANGE cannot
// tell "" from a missing key and PTTL can; a key may expire between the two without a push in time,
// but it does not come to be without one. Everything else is read after its TTL: if the key expires
// between the two, the reply is of the missing key and ends with the TTL, sooner than need be.
class Fill {
 public:
  Fill(FillId id, const FillQuestion& question, TimePoint sent_at);

  const std::string& key() const { return key_; }
  bool string() const { return string_; }
  const FillReply& reply() const { return reply_; }
  bool complete() const { return read_done_ && ttl_done_; }
  // After the first of the two replies and before the second, the key has changed.
  void mark_changed() { reply_.spoiled = reply_.spoiled || read_done_ || ttl_done_; }

  void take_ttl(const resp::Value& reply);
  // `wire`: the same in bytes. Too long ones are given as null: they were not kept.
  void take_read(const resp::Value* reply, std::string_view wire, std::uint64_t value_bytes_max);

  // What it reads is of another database, since the server has answered SELECT with this error.
  void mark_wrong_database(const std::string& refusal);

  void mark_table_full() { reply_.outcome = FillReply::Outcome::kTableFull; }

  void set_answered_at(TimePoint at) { reply_.answered_at = at; }

  // True once: nobody waits for it from then on.
  bool abandon() { return !std::exchange(abandoned_, true); }
  bool abandoned() const { return abandoned_; }

 private:
  void conclude();
  void conclude_string();

  FillReply reply_;
  std::string key_;
  bool string_;
  resp::Resp2Form form_;
  bool read_done_ = false;
  bool ttl_done_ = false;
  bool empty_ = false;  // the string read is ""
  bool ttl_refused_ = false;
  bool elsewhere_ = false;   // read from another database
  std::int64_t ttl_ms_ = 0;  // negative: none (-1), or no such key (-2)
  bool abandoned_ = false;
};

}  // namespace heatsink::redis
