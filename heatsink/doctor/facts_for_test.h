// SPDX-License-Identifier: Apache-2.0
// Facts of a healthy deployment, as recorded from redis-server 7.0.15, for tests to spoil.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "heatsink/doctor/checks.h"

namespace heatsink::doctor {

inline resp::Value text_value(std::string_view text) {
  resp::Value value;
  value.type = resp::Value::Type::kString;
  value.text = std::string(text);
  return value;
}

inline resp::Value error_value(std::string_view text) {
  resp::Value value = text_value(text);
  value.type = resp::Value::Type::kError;
  return value;
}

inline resp::Value number_value(std::int64_t number) {
  resp::Value value;
  value.type = resp::Value::Type::kInteger;
  value.integer = number;
  return value;
}

inline resp::Value list_value(std::initializer_list<resp::Value> items) {
  resp::Value value;
  value.type = resp::Value::Type::kArray;
  value.items = items;
  return value;
}

inline resp::Value map_value(
    std::initializer_list<std::pair<std::string_view, std::string_view>> pairs) {
  resp::Value value;
  value.type = resp::Value::Type::kMap;
  for (const auto& [key, text] : pairs) {
    value.items.push_back(text_value(key));
    value.items.push_back(text_value(text));
  }
  return value;
}

inline void set_config(ServerFacts& server, const std::string& name, std::string_view value) {
  server.replies["CONFIG GET " + name] = map_value({{name, value}});
}

// Replaces the line of `field` in INFO, or adds one.
inline void set_info(ServerFacts& server, const std::string& field, const std::string& value) {
  std::string& text = server.replies["INFO"].text;
  const std::size_t begin = ("\n" + text).find("\n" + field + ":");
  if (begin != std::string::npos) text.erase(begin, text.find('\n', begin) + 1 - begin);
  text += field + ":" + value + "\r\n";
}

inline ServerFacts healthy_server() {
  ServerFacts server;
  server.where = "127.0.0.1:6379";
  server.contact = Contact::kAnswered;
  server.is_local = true;
  server.replies["PING"] = text_value("PONG");
  server.replies["HELLO"] = map_value({{"server", "redis"},
                                       {"version", "7.0.15"},
                                       {"proto", "3"},
                                       {"mode", "standalone"},
                                       {"role", "master"}});
  server.replies["INFO"] = text_value(
      "# Server\r\nredis_version:7.0.15\r\nredis_mode:standalone\r\nos:Linux\r\n# Clients\r\n"
      "connected_clients:12\r\n# Memory\r\nused_memory:1000000\r\nmaxmemory:0\r\n"
      "maxmemory_policy:noeviction\r\n# Persistence\r\nloading:0\r\nasync_loading:0\r\n"
      "rdb_last_bgsave_status:ok\r\naof_enabled:0\r\naof_last_write_status:ok\r\n# Replication\r\n"
      "role:master\r\nconnected_slaves:0\r\n# Cluster\r\ncluster_enabled:0\r\n");
  server.replies["ROLE"] = list_value({text_value("master"), number_value(0), list_value({})});
  server.replies["TOUCH"] = number_value(0);
  server.replies["CLIENT TRACKING ON"] = text_value("OK");
  server.replies["CLIENT LIST"] = text_value(
      "id=3 addr=127.0.0.1:1 laddr=127.0.0.1:6379 fd=8 name=heatsink-tracker age=2 flags=t db=0\n"
      "id=4 addr=127.0.0.1:2 laddr=127.0.0.1:6379 fd=9 name= age=2 flags=N db=0\n");
  for (const auto& [name, value] : std::initializer_list<std::pair<const char*, const char*>>{
           {"timeout", "0"},
           {"maxmemory-policy", "noeviction"},
           {"tracking-table-max-keys", "1000000"},
           {"client-output-buffer-limit",
            "normal 0 0 0 slave 268435456 67108864 60 pubsub 33554432 8388608 60"},
           {"tcp-keepalive", "300"},
           {"maxclients", "10000"},
           {"maxmemory-clients", "0"},
           {"stop-writes-on-bgsave-error", "yes"},
           {"min-replicas-to-write", "0"},
           {"save", ""},
           {"appendonly", "no"}})
    set_config(server, name, value);
  server.rights = policy::needed_rights("default", "heatsink:heartbeat", false);
  server.right_replies.assign(server.rights.size(), text_value("OK"));
  server.round_trips = {Nanos(90'000), Nanos(250'000), Nanos(300'000), 50};
  server.clock_ahead = Millis(3);
  return server;
}

inline Facts healthy() {
  Facts facts;
  facts.upstream = *net::parse_redis_url("redis://127.0.0.1:6379");
  facts.server = healthy_server();
  facts.machine.open_files_max = facts.machine.open_files_hard = 65'536;
  facts.machine.cpus = 4;
  facts.machine.memory = {.machine = 8ULL << 30U};
  facts.machine.somaxconn = facts.machine.syn_backlog = 4096;
  facts.machine.local_ports = 28'232;
  facts.machine.overcommit = "1";
  facts.machine.huge_pages = "madvise";
  facts.machine.clock.reading_cost = Nanos(30);
  facts.machine.clock.source = "tsc";
  facts.machine.now = WallTime(std::chrono::seconds(1'795'262'400));  // 2026-11-21
  return facts;
}

// The findings of one check.
inline Findings found(const Facts& facts, std::string_view code) {
  Findings out;
  for (Finding& finding : examine(facts).findings)
    if (finding.code == code) out.push_back(std::move(finding));
  return out;
}

}  // namespace heatsink::doctor
