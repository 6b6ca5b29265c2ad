// SPDX-License-Identifier: Apache-2.0
#include "heatsink/redis/fill.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace heatsink::redis {
namespace {

using Outcome = FillReply::Outcome;

constexpr std::int64_t kMissing = -2;  // PTTL's reply for a key that does not exist

constexpr std::size_t kRefusalMax = 200;  // bytes kept of the server's error text

// A server may reply 9e18 ms, which no time point can hold. No copy lives for a year anyway.
constexpr Millis kTtlMax = std::chrono::hours(24 * 365);

}  // namespace

Fill::Fill(FillId id, const FillQuestion& question, TimePoint sent_at)
    : key_(question.key), string_(question.request.empty()), form_(question.form) {
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
    std::optional<std::string> resp2 = resp::resp2_form(wire, form_);
    reply_.outcome = resp2 ? Outcome::kValue : Outcome::kRefused;
    reply_.reply = wire;
    if (resp2 && *resp2 != wire) reply_.resp2 = std::move(*resp2);
  }
  if (complete()) conclude();
}

void Fill::take_ttl(const resp::Value& reply) {
  ttl_done_ = true;
  ttl_refused_ = reply.type != resp::Value::Type::kInteger;
  ttl_ms_ = reply.integer;
  if (complete()) conclude();
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
  if (ttl_refused_) reply_.outcome = Outcome::kRefused;
  if (!reply_.usable()) return;
  if (ttl_ms_ >= 0) reply_.ttl = std::min<Millis>(Millis(ttl_ms_), kTtlMax);
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
