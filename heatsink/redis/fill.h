// SPDX-License-Identifier: Apache-2.0
// One fill: the commands that ask the server for a read and for how long its reply holds, and the
// copy that their replies make.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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
  TimePoint answered_at{};  // read after the last reply; not set if the fill failed
  // The key changed between the replies: the waiting clients get the value, but no copy is kept.
  bool spoiled = false;
  // How long the reply holds: until the key expires, or a field of a hash that the reply depends
  // on. Counted from sent_at, so it never ends after the server's own expiry. 0 if that has
  // happened before the last reply, or if the server did not tell.
  std::optional<Nanos> ttl;
  std::string reply;    // kValue, kNil: the reply in RESP3
  std::string resp2;    // the same in RESP2, if it differs
  std::string refusal;  // kNoDatabase: the server's error text

  bool usable() const { return outcome == Outcome::kValue || outcome == Outcome::kNil; }
};

// Where the names of the hash fields stand whose expiry changes a read's reply (HPEXPIRE:
// Redis 7.4, Valkey 9). The server reports such an expiry only when it deletes the field, which may
// be later.
enum class FieldNames : std::uint8_t {
  kNone,       // no expiry of a field changes the reply without an invalidation
  kArguments,  // the arguments after the key: HGET, HMGET
  kReply,      // the reply itself: HGETALL, HKEYS
  kApart,      // nowhere, HKEYS tells them: HVALS
};

// A hash with more fields gets no copy of a read of all fields.
inline constexpr std::size_t kFieldsMax = 1024;

// A read of one key, as a request.
struct FillQuestion {
  std::string_view key;
  std::uint32_t db = 0;
  // The whole request. Empty: GET of `key`. The tracker then sends GETRANGE, whose reply is never
  // longer than value_bytes_max + 1 (docs/decisions/0005-fill-by-getrange.md).
  std::span<const std::string_view> request = {};
  resp::Resp2Form form = {};
  FieldNames fields = FieldNames::kNone;
};

// Collects the replies of one fill. A string is read before its TTL: GETRANGE returns "" for a
// missing key, and PTTL tells the difference. In between a key may expire without a push, but it
// cannot be created without one. All other reads follow their TTL: if the key expires in between,
// the reply describes a missing key and ends with that TTL, earlier than necessary.
//
// HPTTL asks when fields expire, before a read that names its fields, for the same reason. In the
// last millisecond of a field, Redis 8 replies -2 (no such field) to HPTTL although reads still
// show it (of hashes in its compact encoding). A read that shows such a field spoils the fill. A
// read of all fields names them only in its reply, or in that of HKEYS behind it, so HPTTL is sent
// when they are known. A field that has expired in between is missing then, or the numbers of names
// and values differ; either spoils the fill. A field that is added in between causes a push.
//
// HPTTL of all fields may cost the server many times as much as the read. So OBJECT ENCODING is
// asked before such a read: a hash that is stored as `listpack` has no field that expires (Redis
// and Valkey convert it with the first expiry), and the first expiry causes a push.
class Fill {
 public:
  Fill(FillId id, const FillQuestion& question, TimePoint sent_at);

  const std::string& key() const { return key_; }
  bool string() const { return string_; }
  const FillReply& reply() const { return reply_; }
  FillReply& reply() { return reply_; }
  // How the server tells the fields; kNone: nothing is asked about fields.
  FieldNames fields() const { return fields_; }
  std::uint32_t db() const { return db_; }
  bool complete() const { return read_done_ && ttl_done_ && (fields_done_ || !may_make_copy()); }
  // The key has changed. That matters only between the replies.
  void mark_changed() { reply_.spoiled = reply_.spoiled || read_done_ || ttl_done_; }

  // Whether OBJECT ENCODING may spare the question for the ends of the fields.
  bool may_ask_encoding() const {
    return fields_ == FieldNames::kReply || fields_ == FieldNames::kApart;
  }
  // Whether HKEYS must tell the names of the fields.
  bool needs_names() const { return fields_ == FieldNames::kApart && !fields_done_; }

  void take_ttl(const resp::Value& reply);
  // The reply to OBJECT ENCODING. REQUIRES that the read is asked behind it.
  void take_encoding(const resp::Value& reply);
  // The reply to HKEYS. Null: it was too long and was not stored.
  void take_names(const resp::Value* reply);
  // The fields to ask HPTTL for now. Empty: none, or not yet. Returns them once.
  std::vector<std::string> take_fields_to_ask();
  // The reply to HPTTL.
  void take_field_ends(const resp::Value& reply);
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
  bool may_make_copy() const { return reply_.usable() && !reply_.spoiled && !elsewhere_; }
  void note_resp2(std::string_view wire);
  void learn_names(const std::vector<resp::Value>& items, std::size_t step);
  void note_end(std::int64_t ms);
  void note_ended();
  void conclude_if_complete();
  void conclude();
  void conclude_string();

  FillReply reply_;
  std::string key_;
  std::uint32_t db_;
  bool string_;
  resp::Resp2Form form_;
  FieldNames fields_;
  bool read_done_ = false;
  bool ttl_done_ = false;
  bool fields_done_;
  std::size_t element_count_ = 0;         // of the reply to a read of all fields
  std::vector<std::string> field_names_;  // to ask for
  std::size_t fields_asked_;
  // With kArguments, by field: whether the read shows it, and whether HPTTL lacks it.
  std::vector<bool> shown_, missing_;
  bool ends_refused_ = false;
  bool empty_ = false;  // GETRANGE returned ""
  bool ttl_refused_ = false;
  bool elsewhere_ = false;   // the replies come from another database, or there are none
  std::int64_t ttl_ms_ = 0;  // negative: no TTL (-1), or no such key (-2)
  bool abandoned_ = false;
};

}  // namespace heatsink::redis
