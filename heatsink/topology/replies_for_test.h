// SPDX-License-Identifier: Apache-2.0
// Builds replies of servers and Sentinels for tests.
#pragma once

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "heatsink/net/address.h"
#include "heatsink/resp/value.h"

namespace heatsink::topology {

inline const net::HostPort kA{"10.0.0.1", 6379}, kB{"10.0.0.2", 6379}, kC{"10.0.0.3", 6379};

inline resp::Value text(std::string of) {
  resp::Value out;
  out.type = resp::Value::Type::kString;
  out.text = std::move(of);
  return out;
}

inline resp::Value number(std::int64_t of) {
  resp::Value out;
  out.type = resp::Value::Type::kInteger;
  out.integer = of;
  return out;
}

inline resp::Value list(std::vector<resp::Value> items) {
  resp::Value out;
  out.type = resp::Value::Type::kArray;
  out.items = std::move(items);
  return out;
}

inline resp::Value texts(std::initializer_list<const char*> words) {
  resp::Value out = list({});
  for (const char* word : words) out.items.push_back(text(word));
  return out;
}

inline resp::Value error_reply(std::string of) {
  resp::Value out;
  out.type = resp::Value::Type::kError;
  out.text = std::move(of);
  return out;
}

inline resp::Value master_role(std::int64_t offset, const std::vector<net::HostPort>& others = {}) {
  resp::Value replicas = list({});
  for (const net::HostPort& each : others)
    replicas.items.push_back(list({text(each.host), text(std::to_string(each.port)), text("1")}));
  return list({text("master"), number(offset), std::move(replicas)});
}

inline resp::Value replica_role(const net::HostPort& master, std::int64_t offset) {
  return list(
      {text("slave"), text(master.host), number(master.port), text("connected"), number(offset)});
}

}  // namespace heatsink::topology
