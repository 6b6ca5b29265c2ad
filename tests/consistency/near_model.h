// SPDX-License-Identifier: Apache-2.0
// The cache of a client library: keeps what was read until the server, or a proxy, ends it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "heatsink/resp/value.h"

namespace heatsink::consistency {

// As Jedis does it: a read in flight has no mark, so an invalidation that comes before the reply is
// of no use, and the value is kept for good.
class NearModel {
 public:
  std::optional<std::uint64_t> find(const std::string& key) const {
    const auto found = values_.find(key);
    return found == values_.end() ? std::nullopt : std::optional(found->second);
  }
  void keep(const std::string& key, std::uint64_t value) { values_[key] = value; }
  void forget(const std::string& key) { values_.erase(key); }
  void clear() { values_.clear(); }

  // ">2 invalidate [key, ...]", or null for all. Other messages are ignored.
  void take(const resp::Value& push) {
    if (push.items.size() != 2 || push.items[0].text != "invalidate") return;
    if (push.items[1].type == resp::Value::Type::kNull) return clear();
    for (const resp::Value& key : push.items[1].items) forget(key.text);
  }

 private:
  std::unordered_map<std::string, std::uint64_t> values_;
};

}  // namespace heatsink::consistency
