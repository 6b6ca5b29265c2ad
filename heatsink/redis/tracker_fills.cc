// SPDX-License-Identifier: Apache-2.0
// The fills of a tracker: what is asked for each, and what the replies make of it.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "heatsink/redis/tracker.h"

namespace heatsink::redis {

using resp::Value;

void Tracker::fill(FillId id, const FillQuestion& question, TimePoint now) {
  FillQuestion asked = question;
  if (!asks_field_ends(question)) asked.fields = FieldNames::kNone;
  Fill fill(id, asked, now);
  if (state_ != State::kUp) {
    events_.on_filled(fill.reply());
    return;
  }
  if (options_.tracking && !names_.admit(question.key)) {
    fill.mark_table_full();
    events_.on_filled(fill.reply());
    return;
  }
  // The heartbeat goes first: it proves that the fill reads from the right server.
  if (rests_) send_heartbeat_if_due(now, options_.heartbeat_interval);
  select(question.db, now);
  // The class Fill explains the order of the two commands.
  if (fill.string()) {
    send(Kind::kRead, {"GETRANGE", question.key, "0", std::to_string(options_.value_bytes_max)},
         now, id);
    send(Kind::kTtl, {"PTTL", question.key}, now, id);
  } else {
    send(Kind::kTtl, {"PTTL", question.key}, now, id);
    const bool asks_encoding = shows_encodings_ && fill.may_ask_encoding();
    if (asks_encoding) send(Kind::kEncoding, {"OBJECT", "ENCODING", question.key}, now, id);
    if (fill.fields() == FieldNames::kArguments)
      ask_field_ends(fill, question.request.subspan(2), now);
    resp::append_request(output_, question.request);
    expect({Kind::kRead, now, id});
    if (!asks_encoding && fill.needs_names()) ask_names(fill, now);
  }
  fills_.push_back(std::move(fill));
}

// Without a list of its commands, a server may have HPTTL.
bool Tracker::asks_field_ends(const FillQuestion& question) const {
  const bool may_expire =
      facts_.commands == nullptr || facts_.commands->find_name("hpttl") != nullptr;
  return question.fields != FieldNames::kNone && options_.tracking && may_expire;
}

void Tracker::ask_field_ends(const Fill& fill, std::span<const std::string_view> fields,
                             TimePoint now) {
  select(fill.db(), now);
  const std::string count = std::to_string(fields.size());
  std::vector<std::string_view> request = {"HPTTL", fill.key(), "FIELDS", count};
  request.insert(request.end(), fields.begin(), fields.end());
  resp::append_request(output_, request);
  expect({Kind::kFieldEnds, now, fill.reply().id});
}

void Tracker::ask_names(const Fill& fill, TimePoint now) {
  select(fill.db(), now);
  send(Kind::kNames, {"HKEYS", fill.key()}, now, fill.reply().id);
}

// Without the right to ask, the fields are asked for their ends.
void Tracker::on_encoding(Fill& fill, const Value& reply) {
  if (reply.is_error() && !reply.text.starts_with("BUSY")) shows_encodings_ = false;
  fill.take_encoding(reply);
  if (fill.needs_names() && !fill.abandoned()) ask_names(fill, received_at_);
}

// Null: the reply was too long to keep. A fill that needed no more replies is gone.
void Tracker::on_fill_reply(const Expected& expected, const Value* reply) {
  const auto fill = std::find_if(fills_.begin(), fills_.end(), [&](const Fill& each) {
    return each.reply().id == expected.token;
  });
  if (fill == fills_.end()) return;
  if (!db_refusal_.empty()) fill->mark_wrong_database(db_refusal_);
  if (expected.kind == Kind::kTtl) {
    fill->take_ttl(*reply);
  } else if (expected.kind == Kind::kEncoding) {
    on_encoding(*fill, *reply);
  } else if (expected.kind == Kind::kNames) {
    fill->take_names(reply);
  } else if (expected.kind == Kind::kFieldEnds) {
    fill->take_field_ends(*reply);
  } else {
    fill->take_read(reply, input_.view(), options_.value_bytes_max);
  }
  const std::vector<std::string> names = fill->take_fields_to_ask();
  const std::vector<std::string_view> fields(names.begin(), names.end());
  if (!fields.empty() && !fill->abandoned()) ask_field_ends(*fill, fields, received_at_);
  if (!fill->complete() && !fill->abandoned()) return;
  Fill done = std::move(*fill);
  fills_.erase(fill);
  done.set_answered_at(received_at_);
  if (!done.abandoned()) events_.on_filled(done.reply());
}

// The fills stay in the list, since their replies will still arrive; these replies are then
// ignored.
void Tracker::fail_fills() {
  for (Fill& fill : fills_) {
    if (!fill.abandon()) continue;
    FillReply failed;
    failed.id = fill.reply().id;
    failed.sent_at = fill.reply().sent_at;
    events_.on_filled(failed);
  }
}

}  // namespace heatsink::redis
