// SPDX-License-Identifier: Apache-2.0
// One fill: the commands that ask the server for a read and its TTL, and the copy their replies
// make.
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
    kNil,         // the key does not exist
    kTooBig,      // longer than value_bytes_max
    kRefused,     // wrong type, or no permission: do not ask again soon
    kNoDatabase,  // the server refuses to SELECT the database; `refusal` has its error text
    kTableFull,   // TrackerOptions::names_max is used up, so nothing was sent
    kFailed,      // the tracker was lost or stalled before the reply, or
                  // the key changed too fast
  };
  FillId id = 0;
  Outcome outcome = Outcome::kFailed;
  TimePoint sent_at{};
  TimePoint answered_at{};  // read after both replies; not set if the fill failed
  // The key changed between the two replies: the waiting clients get the value, but no copy is
  // kept.
  bool spoiled = false;
  std::optional<Nanos> ttl;  // counted from sent_at, so it never ends after the server's own expiry
  std::string reply;         // kValue, kNil: the reply in RESP3
  std::string resp2;         // the same in RESP2, if it differs
  std::string refusal;       // kNoDatabase: the server's error text

  bool usable() const { return outcome == Outcome::kValue || outcome == Outcome::kNil; }
};

// A read of one key, as a request.
struct FillQuestion {
  std::string_view key;
  std::uint32_t db = 0;
  // The whole request. Empty: GET of `key`. The tracker then sends GETRANGE, whose reply is never
  // longer than value_bytes_max + 1 (docs/decisions/0005-fill-by-getrange.md).
  std::span<const std::string_view> request = {};
  resp::Resp2Form form = {};
};

// Collects the two replies of one fill. A string is read before its TTL: GETRANGE returns "" for a
// missing key, and PTTL tells the difference. In between a key may expire without a push, but it
// cannot be created without one. All other reads follow their TTL: if the key expires in between,
// the reply describes a missing key and ends with that TTL, earlier than necessary.
class Fill {
 public:
  Fill(FillId id, const FillQuestion& question, TimePoint sent_at);

  const std::string& key() const { return key_; }
  bool string() const { return string_; }
  const FillReply& reply() const { return reply_; }
  bool complete() const { return read_done_ && ttl_done_; }
  // The key has changed. That matters only between the two replies.
  void mark_changed() { reply_.spoiled = reply_.spoiled || read_done_ || ttl_done_; }

  void take_ttl(const resp::Value& reply);
  // `wire`: the same reply in bytes. Null: the reply was too long and was not stored.
  void take_read(const resp::Value* reply, std::string_view wire, std::uint64_t value_bytes_max);

  // The server refused SELECT with this error, so the replies come from another database.
  void mark_wrong_database(const std::string& refusal);

  // A node of a cluster has refused it, because the slot is another's.
  void mark_moved() { elsewhere_ = true; }

  void mark_table_full() { reply_.outcome = FillReply::Outcome::kTableFull; }

  void set_answered_at(TimePoint at) { reply_.answered_at = at; }

  // Returns true once. From then on the caller ignores this fill's replies.
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
  bool empty_ = false;  // GETRANGE returned ""
  bool ttl_refused_ = false;
  bool elsewhere_ = false;   // the replies come from another database, or there are none
  std::int64_t ttl_ms_ = 0;  // negative: no TTL (-1), or no such key (-2)
  bool abandoned_ = false;
};

}  // namespace heatsink::redis
