// SPDX-License-Identifier: Apache-2.0
#include "heatsink/redis/fill.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace heatsink::redis {
namespace {

using Outcome = FillReply::Outcome;

constexpr std::int64_t kMissing = -2;  // what PTTL and HPTTL say of a key or field that is missing

constexpr std::size_t kRefusalMax = 200;  // bytes kept of the server's error text

// A server may reply 9e18 ms, which no time point can hold. No copy lives for a year anyway.
constexpr Millis kTtlMax = std::chrono::hours(24 * 365);

// By field of a read that names its fields: whether the reply would be another one without it.
std::vector<bool> fields_shown(const resp::Value& reply) {
  using Type = resp::Value::Type;
  if (reply.type != Type::kArray)
    return {reply.type != Type::kNull && (reply.type != Type::kInteger || reply.integer != 0)};
  std::vector<bool> shown;
  for (const resp::Value& each : reply.items) shown.push_back(each.type != Type::kNull);
  return shown;
}

}  // namespace

Fill::Fill(FillId id, const FillQuestion& question, TimePoint sent_at)
    : key_(question.key),
      db_(question.db),
      string_(question.request.empty()),
      form_(question.form),
      fields_(question.fields),
      fields_done_(question.fields == FieldNames::kNone),
      fields_asked_(question.fields == FieldNames::kArguments ? question.request.size() - 2 : 0) {
  reply_.id = id;
  reply_.sent_at = sent_at;
}

void Fill::take_read(const resp::Value* reply, std::string_view wire,
                     std::uint64_t value_bytes_max) {
  read_done_ = true;
  const bool expected = reply != nullptr && !reply->is_error() &&
                        (!string_ || reply->type == resp::Value::Type::kString);
  if (reply == nullptr || (string_ && expected && reply->text.size() > value_bytes_max)) {
    reply_.outcome = Outcome::kTooBig;
  } else if (!expected) {
    reply_.outcome = Outcome::kRefused;
  } else {
    empty_ = reply->text.empty();
    reply_.reply = wire;
    note_resp2(wire);
    element_count_ = reply->items.size();
    if (fields_ == FieldNames::kArguments) shown_ = fields_shown(*reply);
    if (fields_ == FieldNames::kReply && !fields_done_)
      learn_names(reply->items, reply->type == resp::Value::Type::kMap ? 2 : 1);
  }
  conclude_if_complete();
}

// A bulk string is the same in both protocols.
void Fill::note_resp2(std::string_view wire) {
  reply_.outcome = Outcome::kValue;
  if (string_ && wire.starts_with('$')) return;
  std::optional<std::string> resp2 = resp::resp2_form(wire, form_);
  if (!resp2) {
    reply_.outcome = Outcome::kRefused;
  } else if (*resp2 != wire) {
    reply_.resp2 = std::move(*resp2);
  }
}

// `step`: 2 if each name has its value behind it.
void Fill::learn_names(const std::vector<resp::Value>& items, std::size_t step) {
  if (items.empty()) fields_done_ = true;
  if (items.size() / step > kFieldsMax) {
    reply_.outcome = Outcome::kTooBig;
    return;
  }
  for (std::size_t i = 0; i < items.size(); i += step) field_names_.push_back(items[i].text);
}

void Fill::take_names(const resp::Value* reply) {
  if (reply == nullptr) {
    reply_.outcome = Outcome::kTooBig;
  } else if (reply->is_error()) {
    reply_.outcome = Outcome::kRefused;
  } else if (reply->items.size() != element_count_) {
    reply_.spoiled = true;
  } else {
    learn_names(reply->items, 1);
  }
  conclude_if_complete();
}

std::vector<std::string> Fill::take_fields_to_ask() {
  if (field_names_.empty() || !may_make_copy()) return {};
  fields_asked_ = field_names_.size();
  return std::exchange(field_names_, {});
}

// A server that does not know HPTTL has no fields that expire. A field of an argument may be
// missing: it cannot come into being without a push.
void Fill::take_field_ends(const resp::Value& reply) {
  fields_done_ = true;
  const bool is_unknown = reply.is_error() && resp::is_unknown_command(reply.text);
  ends_refused_ = !is_unknown && reply.items.size() != fields_asked_;
  for (const resp::Value& end : reply.items) {
    if (end.type != resp::Value::Type::kInteger) {
      ends_refused_ = true;
      continue;
    }
    const bool is_missing = end.integer == kMissing;
    if (fields_ == FieldNames::kArguments) {
      missing_.push_back(is_missing);
    } else if (is_missing) {
      note_ended();
    }
    if (end.integer >= 0) note_end(end.integer);
  }
  conclude_if_complete();
}

// A field that the reply shows has ended.
void Fill::note_ended() {
  reply_.spoiled = true;
  note_end(0);
}

void Fill::note_end(std::int64_t ms) {
  const Millis end = std::min<Millis>(Millis(ms), kTtlMax);
  reply_.ttl = std::min<Nanos>(reply_.ttl.value_or(kTtlMax), end);
}

// Null: there is no such key. A change behind this reply spoils the fill.
void Fill::take_encoding(const resp::Value& reply) {
  fields_done_ = reply.type == resp::Value::Type::kNull || reply.text == "listpack";
}

void Fill::conclude_if_complete() {
  if (complete()) conclude();
}

void Fill::take_ttl(const resp::Value& reply) {
  ttl_done_ = true;
  ttl_refused_ = reply.type != resp::Value::Type::kInteger;
  ttl_ms_ = reply.integer;
  conclude_if_complete();
}

// A server that runs a long script answers BUSY to every command, SELECT included. That passes
// soon, so BUSY counts as a failure and not as a refusal of the database.
void Fill::mark_wrong_database(const std::string& refusal) {
  elsewhere_ = true;
  reply_.refusal = refusal.starts_with("BUSY") ? std::string() : refusal.substr(0, kRefusalMax);
}

void Fill::conclude() {
  if (elsewhere_) {
    reply_.outcome = reply_.refusal.empty() ? Outcome::kFailed : Outcome::kNoDatabase;
    reply_.reply.clear();
    reply_.resp2.clear();
    return;
  }
  if (ttl_refused_ || ends_refused_) reply_.outcome = Outcome::kRefused;
  if (!reply_.usable()) return;
  if (ttl_ms_ >= 0) note_end(ttl_ms_);
  if (!fields_done_) note_end(0);  // not known
  for (std::size_t i = 0; i < std::min(shown_.size(), missing_.size()); ++i)
    if (shown_[i] && missing_[i]) note_ended();
  if (string_) {
    conclude_string();
  } else if (ttl_ms_ == kMissing) {
    reply_.outcome = Outcome::kNil;
  }
}

// GETRANGE deletes a key that it finds expired, and the server pushes that between the two replies.
// But a key that was missing when PTTL ran is tracked, and is still missing.
void Fill::conclude_string() {
  if (ttl_ms_ == kMissing && !empty_) {
    reply_.spoiled = true;  // the key existed and is gone now
    note_end(0);
  } else if (ttl_ms_ == kMissing) {
    reply_.outcome = Outcome::kNil;
    reply_.spoiled = false;
    reply_.reply = "_\r\n";
    reply_.resp2 = "$-1\r\n";
  } else if (empty_ && reply_.spoiled) {
    reply_.outcome = Outcome::kFailed;  // it was "" or missing: the replies do not tell which
  }
}

}  // namespace heatsink::redis
