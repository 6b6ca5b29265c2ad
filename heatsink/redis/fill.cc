// SPDX-License-Identifier: Apache-2.0
#include "heatsink/redis/fill.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace heatsink::redis {
namespace {

using Outcome = FillReply::Outcome;

constexpr std::int64_t kMissing = -2;  // PTTL of a key that is not there

constexpr std::size_t kRefusalMax = 200;  // bytes of the server's words that are kept

// A server may say 9e18 ms, which no time point can hold; nobody keeps a copy for a year.
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

// A server that runs a script answers BUSY to SELECT as to all else: that is over in a moment.
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

// A key that GETRANGE finds expired is deleted by it, and the push of that comes between the two.
// But a key that was missing when PTTL was executed, which is tracked, is missing still.
void Fill::conclude_string() {
  if (ttl_ms_ == kMissing && !empty_) {
    reply_.spoiled = true;  // it was there, and is no longer
  } else if (ttl_ms_ == kMissing) {
    reply_.outcome = Outcome::kNil;
    reply_.spoiled = false;
    reply_.reply = "_\r\n";
    reply_.resp2 = "$-1\r\n";
  } else if (empty_ && reply_.spoiled) {
    reply_.outcome = Outcome::kFailed;  // it was "", or missing: nobody can tell
  }
}

}  // namespace heatsink::redis
