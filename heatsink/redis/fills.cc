// SPDX-License-Identifier: Apache-2.0
#include "heatsink/redis/fills.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "heatsink/resp/key_slot.h"
#include "heatsink/resp/writer.h"

namespace heatsink::redis {

using resp::Value;

Fill Fills::make(FillId id, const FillQuestion& question, const ServerFacts& server,
                 TimePoint now) const {
  FillQuestion asked = question;
  if (!asks_field_ends(question, server)) asked.fields = FieldNames::kNone;
  return {id, asked, now};
}

void Fills::send(Fill fill, const FillQuestion& question, TimePoint now) {
  const FillId id = fill.reply().id;
  requests_.select(question.db, now);
  // The class Fill explains the order of the two commands.
  if (fill.string()) {
    requests_.send(Question::kRead,
                   {"GETRANGE", question.key, "0", std::to_string(options_.value_bytes_max)}, now,
                   id);
    requests_.send(Question::kTtl, {"PTTL", question.key}, now, id);
  } else {
    requests_.send(Question::kTtl, {"PTTL", question.key}, now, id);
    const bool asks_encoding = shows_encodings_ && fill.may_ask_encoding();
    if (asks_encoding)
      requests_.send(Question::kEncoding, {"OBJECT", "ENCODING", question.key}, now, id);
    if (fill.fields() == FieldNames::kArguments)
      ask_field_ends(fill, question.request.subspan(2), now);
    requests_.send(Question::kRead, question.request, now, id);
    if (!asks_encoding && fill.needs_names()) ask_names(fill, now);
  }
  fills_.push_back(std::move(fill));
}

// Without a list of its commands, a server may have HPTTL.
bool Fills::asks_field_ends(const FillQuestion& question, const ServerFacts& server) const {
  const bool may_expire =
      server.commands == nullptr || server.commands->find_name("hpttl") != nullptr;
  return question.fields != FieldNames::kNone && options_.tracking && may_expire;
}

void Fills::ask_field_ends(const Fill& fill, std::span<const std::string_view> fields,
                           TimePoint now) {
  requests_.select(fill.db(), now);
  const std::string count = std::to_string(fields.size());
  std::vector<std::string_view> request = {"HPTTL", fill.key(), "FIELDS", count};
  request.insert(request.end(), fields.begin(), fields.end());
  requests_.send(Question::kFieldEnds, request, now, fill.reply().id);
}

void Fills::ask_names(const Fill& fill, TimePoint now) {
  requests_.select(fill.db(), now);
  requests_.send(Question::kNames, {"HKEYS", fill.key()}, now, fill.reply().id);
}

// Without the right to ask, the fields are asked for their ends.
void Fills::on_encoding(Fill& fill, const Value& reply, TimePoint received_at) {
  if (reply.is_error() && !reply.text.starts_with("BUSY")) shows_encodings_ = false;
  fill.take_encoding(reply);
  if (fill.needs_names() && !fill.abandoned()) ask_names(fill, received_at);
}

// A fill that needed no more replies is gone.
void Fills::on_reply(const Asked& asked, const Value* reply, std::string_view wire,
                     TimePoint received_at) {
  const auto fill = std::find_if(fills_.begin(), fills_.end(),
                                 [&](const Fill& each) { return each.reply().id == asked.token; });
  if (fill == fills_.end()) return;
  if (!requests_.select_error().empty()) fill->mark_wrong_database(requests_.select_error());
  if (asked.question == Question::kTtl) {
    fill->take_ttl(*reply);
  } else if (asked.question == Question::kEncoding) {
    on_encoding(*fill, *reply, received_at);
  } else if (asked.question == Question::kNames) {
    fill->take_names(reply);
  } else if (asked.question == Question::kFieldEnds) {
    fill->take_field_ends(*reply);
  } else {
    fill->take_read(reply, wire, options_.value_bytes_max);
  }
  const std::vector<std::string> names = fill->take_fields_to_ask();
  const std::vector<std::string_view> fields(names.begin(), names.end());
  if (!fields.empty() && !fill->abandoned()) ask_field_ends(*fill, fields, received_at);
  if (!fill->complete() && !fill->abandoned()) return;
  Fill done = std::move(*fill);
  fills_.erase(fill);
  done.set_answered_at(received_at);
  if (!done.abandoned()) events_.on_filled(done.reply());
}

void Fills::on_moved(const Asked& asked, const Value& reply, std::string_view wire,
                     TimePoint received_at) {
  for (Fill& fill : fills_) {
    if (fill.reply().id != asked.token) continue;
    events_.on_slot_lost(resp::key_slot(fill.key()));
    fill.mark_moved();
  }
  on_reply(asked, &reply, wire, received_at);
}

void Fills::changed(std::string_view name) {
  for (Fill& fill : fills_)
    if (fill.key() == name) fill.mark_changed();
}

void Fills::all_changed() {
  for (Fill& fill : fills_) fill.mark_changed();
}

void Fills::fail_all() {
  for (Fill& fill : fills_) {
    if (!fill.abandon()) continue;
    FillReply failed;
    failed.id = fill.reply().id;
    failed.sent_at = fill.reply().sent_at;
    events_.on_filled(failed);
  }
}

}  // namespace heatsink::redis
