// SPDX-License-Identifier: Apache-2.0
#include "heatsink/observe/key_details.h"

#include <algorithm>

namespace heatsink::observe {
namespace {

using resp::Value;

void put_type(KeyDetails& out, const Value& reply) { out.type = reply.text; }
void put_encoding(KeyDetails& out, const Value& reply) { out.encoding = reply.text; }

// The first answer counts: MEMORY USAGE, or STRLEN behind it.
void put_bytes(KeyDetails& out, const Value& reply) {
  if (!out.value_bytes && reply.type == Value::Type::kInteger && reply.integer > 0)
    out.value_bytes = static_cast<std::uint64_t>(reply.integer);
}

void put_ttl(KeyDetails& out, const Value& reply) {
  constexpr std::int64_t kMillisMax = 100LL * 365 * 86400 * 1000;
  out.never_expires = reply.type == Value::Type::kInteger && reply.integer == -1;
  if (reply.type == Value::Type::kInteger && reply.integer >= 0)
    out.ttl = Millis(std::min(reply.integer, kMillisMax));
}

}  // namespace

void DetailsReader::want(std::span<const Key> keys) {
  keys = keys.first(std::min(keys.size(), kKeysMax));
  std::erase_if(entries_, [keys](const auto& entry) {
    return std::ranges::find(keys, entry.first) == keys.end();
  });
  for (const Key& key : keys) entries_.try_emplace(key);
}

void DetailsReader::tick(TimePoint now) {
  if (entries_.empty()) return;
  dialogue_.tick(now);
  if (dialogue_.is_hopeless()) return dialogue_.end();
  if (!dialogue_.is_up() || dialogue_.in_flight() > 0) return;  // a key at a time
  for (auto& [key, entry] : entries_) {
    if (entry.asked && now - entry.asked_at < kFresh) continue;
    entry.asked = true;
    entry.asked_at = now;
    return ask(key, now);
  }
}

void DetailsReader::ask(const Key& key, TimePoint now) {
  const auto put = [this, key](void (*how)(KeyDetails&, const Value&)) {
    return [this, key, how](const Result<Value>& reply, TimePoint) {
      if (reply && !reply->is_error()) take(key, *reply, how);
    };
  };
  dialogue_.ask({"SELECT", std::to_string(key.first)}, now, [](const auto&, TimePoint) {});
  dialogue_.ask({"TYPE", key.second}, now, [this, key](const Result<Value>& reply, TimePoint) {
    const auto entry = entries_.find(key);
    if (entry == entries_.end()) return;
    entry->second.details = {};
    if (reply && !reply->is_error()) take(key, *reply, put_type);
  });
  dialogue_.ask({"OBJECT", "ENCODING", key.second}, now, put(put_encoding));
  dialogue_.ask({"MEMORY", "USAGE", key.second}, now, put(put_bytes));
  dialogue_.ask({"STRLEN", key.second}, now, put(put_bytes));
  dialogue_.ask({"PTTL", key.second}, now, put(put_ttl));
}

void DetailsReader::take(const Key& key, const Value& reply,
                         void (*put)(KeyDetails&, const Value&)) {
  const auto entry = entries_.find(key);
  if (entry == entries_.end()) return;
  put(entry->second.details, reply);
  entry->second.known = true;
}

const KeyDetails* DetailsReader::find(const Key& key) const {
  const auto entry = entries_.find(key);
  return entry == entries_.end() || !entry->second.known ? nullptr : &entry->second.details;
}

}  // namespace heatsink::observe
