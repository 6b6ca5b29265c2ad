// SPDX-License-Identifier: Apache-2.0
#include "heatsink/redis/value_facts.h"

#include <algorithm>

namespace heatsink::redis {
namespace {

using resp::Value;

enum Question : std::uint8_t { kSelect, kType, kEncoding, kMemory, kLength, kTtl };

// The key has just disappeared or is no string: that is normal, so it is not reported.
bool is_about_the_key(std::string_view error) {
  return error.starts_with("WRONGTYPE") || error.find("no such key") != std::string_view::npos;
}

// A length of 0 means a missing key or an empty string, so there is nothing to report.
void put_bytes(const Value& reply, std::optional<std::uint64_t>& out) {
  if (reply.type == Value::Type::kInteger && reply.integer > 0)
    out = static_cast<std::uint64_t>(reply.integer);
}

void put_ttl(const Value& reply, ValueFacts& out) {
  // 100 years: Nanos cannot hold 300.
  constexpr std::int64_t kMillisMax = 100LL * 365 * 86400 * 1000;
  if (reply.type != Value::Type::kInteger) return;
  out.never_expires = reply.integer == -1;
  if (reply.integer >= 0) out.ttl = Millis(std::min(reply.integer, kMillisMax));
}

}  // namespace

std::array<std::vector<std::string>, kValueQuestions> value_questions(std::uint32_t db,
                                                                      std::string_view key) {
  const std::string name(key);
  return {{{"SELECT", std::to_string(db)},
           {"TYPE", name},
           {"OBJECT", "ENCODING", name},
           {"MEMORY", "USAGE", name},
           {"STRLEN", name},
           {"PTTL", name}}};
}

void take_value_reply(std::size_t question, const Value& reply, ValueFacts& facts) {
  if (facts.in_other_db) return;
  if (reply.is_error()) {
    facts.in_other_db = question == kSelect;
    const bool new_one = facts.refusal.empty() && !is_about_the_key(reply.text);
    if (new_one) facts.refusal = reply.text;
    return;
  }
  switch (question) {
    case kType:
      facts.type = reply.text;
      return;
    case kEncoding:
      facts.encoding = reply.text;
      return;
    case kMemory:
      return put_bytes(reply, facts.memory_bytes);
    case kLength:
      return put_bytes(reply, facts.value_bytes);
    case kTtl:
      return put_ttl(reply, facts);
    default:
      return;
  }
}

}  // namespace heatsink::redis
