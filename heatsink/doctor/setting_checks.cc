// SPDX-License-Identifier: Apache-2.0
#include "heatsink/doctor/setting_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <string>

#include "heatsink/base/printable.h"
#include "heatsink/base/units.h"

namespace heatsink::doctor {
namespace {

constexpr double kFull = 0.9;  // of a limit, from which on it is worth a warning

void check_eviction(const Facts& facts, Findings& out) {
  const ServerFacts& server = facts.server;
  const std::string policy = printable(server.info("maxmemory_policy"));
  const double most = server.info_number("maxmemory").value_or(0);
  const double used = server.info_number("used_memory").value_or(0);
  if (policy.empty()) return;
  if (most <= 0) {
    out.push_back({Level::kOk, "maxmemory is not set, so the server evicts no keys"});
    return;
  }
  const std::string said = fmt::format("maxmemory-policy is {}, {:.0f} % of maxmemory are used",
                                       policy, 100 * used / most);
  if (policy == "noeviction" && used >= kFull * most) {
    out.push_back({Level::kWarning, said, "at 100 % the server refuses writes with OOM errors",
                   "raise maxmemory, remove keys, or let the server evict some",
                   fmt::format("CONFIG SET maxmemory {:.0f}", 2 * most)});
  } else if (policy.ends_with("lru") || policy.ends_with("lfu")) {
    out.push_back({Level::kOk, said + "; the proxy keeps keys with copies in use by TOUCH"});
  } else if (policy == "noeviction") {
    out.push_back({Level::kOk, said});
  } else {
    out.push_back(
        {Level::kNote, said,
         "it evicts hot keys like any others, whose copies then end; TOUCH does not help",
         "prefer a policy that looks at use",
         "CONFIG SET maxmemory-policy " +
             std::string(policy.starts_with("volatile") ? "volatile-lru" : "allkeys-lru")});
  }
}

struct OutputLimit {
  double hard = 0, soft = 0;  // bytes; 0: none
};

// "normal 0 0 0 slave 268435456 67108864 60 pubsub 33554432 8388608 60"
OutputLimit output_limit(const std::string& setting, std::string_view of) {
  std::istringstream words(setting);
  std::string name;
  OutputLimit limit;
  double lasting = 0;
  while (words >> name >> limit.hard >> limit.soft >> lasting)
    if (name == of) return limit;
  return {};
}

// In RESP3 the tracker and the shared connections are "normal" clients.
void check_output_buffers(const Facts& facts, Findings& out) {
  const std::optional<std::string> setting = facts.server.config("client-output-buffer-limit");
  if (!setting) return;
  const OutputLimit normal = output_limit(*setting, "normal");
  const OutputLimit pubsub = output_limit(*setting, "pubsub");
  const double least = 8.0 * static_cast<double>(facts.options.stream_threshold.count);
  const auto is_small = [least](double limit) { return limit > 0 && limit < least; };
  bool is_fine = true;
  if (is_small(normal.hard) || is_small(normal.soft)) {
    is_fine = false;
    out.push_back({Level::kWarning,
                   fmt::format("client-output-buffer-limit normal is {:.0f} {:.0f}", normal.hard,
                               normal.soft),
                   "the replies of many clients share a connection: "
                   "past the limit the server closes it, and all their commands fail",
                   fmt::format("remove the limit, or set it to {:.0f} bytes or more", least),
                   "CONFIG SET client-output-buffer-limit \"normal 0 0 0\"", "normal"});
  }
  if (is_small(pubsub.hard)) {
    is_fine = false;
    out.push_back(
        {Level::kNote, fmt::format("client-output-buffer-limit pubsub is {:.0f}", pubsub.hard),
         "subscribers are closed sooner than by the server's default of 32 MiB", "raise it",
         "CONFIG SET client-output-buffer-limit \"pubsub 32mb 8mb 60\"", "pubsub"});
  }
  if (is_fine) {
    out.push_back({Level::kOk, normal.hard == 0
                                   ? "client-output-buffer-limit has no limit for our connections"
                                   : "client-output-buffer-limit has room for our connections"});
  }
}

void check_idle(const Facts& facts, Findings& out) {
  constexpr double kShort = 60;  // seconds
  const std::optional<double> timeout = facts.server.config_number("timeout");
  const std::optional<double> keepalive = facts.server.config_number("tcp-keepalive");
  if (!timeout) return;
  if (*timeout > 0) {
    out.push_back({*timeout < kShort ? Level::kWarning : Level::kNote,
                   fmt::format("timeout is {:.0f} s: the server closes idle connections", *timeout),
                   "a command that is on its way at that moment fails; the proxy reconnects",
                   "switch it off; the proxy closes connections of clients that are gone",
                   "CONFIG SET timeout 0", "timeout"});
  }
  if (keepalive && *keepalive == 0) {
    out.push_back({Level::kNote, "tcp-keepalive is 0",
                   "a proxy whose machine vanished keeps its connections "
                   "and its tracked keys on the server for hours",
                   "switch it on", "CONFIG SET tcp-keepalive 300", "keepalive"});
  }
  if (*timeout == 0 && keepalive.value_or(1) > 0)
    out.push_back({Level::kOk, "the server closes no idle connection (timeout 0)"});
}

void check_server_clients(const Facts& facts, Findings& out) {
  const ServerFacts& server = facts.server;
  const std::optional<double> most = server.config_number("maxclients");
  const std::optional<double> now = server.info_number("connected_clients");
  if (!most || !now) return;
  const auto ours = static_cast<double>(facts.options.private_connections_max);
  const std::string said =
      fmt::format("the server has {:.0f} of {:.0f} clients (maxclients)", *now, *most);
  if (*now >= kFull * *most) {
    out.push_back({Level::kWarning, said, "at the limit, new connections are refused",
                   "raise it, or look for clients that leak connections",
                   fmt::format("CONFIG SET maxclients {:.0f}", 2 * *most)});
  } else if (ours > *most) {
    out.push_back({Level::kNote,
                   fmt::format("{}; proxy.maximum-private-connections is {:.0f}", said, ours),
                   "if so many clients need private connections, the server refuses some of them",
                   "raise maxclients, or lower that option",
                   fmt::format("CONFIG SET maxclients {:.0f}", ours + 1000)});
  } else {
    out.push_back({Level::kOk, said});
  }
}

void check_client_eviction(const Facts& facts, Findings& out) {
  const std::optional<std::string> most = facts.server.config("maxmemory-clients");
  if (!most) return;
  if (*most == "0") {
    out.push_back({Level::kOk, "the server closes no client to save memory (maxmemory-clients 0)"});
    return;
  }
  out.push_back({Level::kNote, "maxmemory-clients is " + printable(*most),
                 "past it the server closes the client that uses most memory, "
                 "which may be a shared connection of many clients, or the tracker",
                 "remove the limit, or keep it well above proxy.client-output-limit",
                 "CONFIG SET maxmemory-clients 0"});
}

void check_writes(const Facts& facts, Findings& out) {
  const ServerFacts& server = facts.server;
  const std::size_t before = out.size();
  const bool stops = server.config("stop-writes-on-bgsave-error").value_or("yes") == "yes";
  if (server.info("rdb_last_bgsave_status") == "err" && stops) {
    out.push_back({Level::kWarning, "the last snapshot failed (rdb_last_bgsave_status:err)",
                   "the server refuses all writes with MISCONF errors",
                   "see the server's log: most often its disk is full, or fork() gets no memory",
                   "", "snapshot"});
  }
  if (server.info("aof_last_write_status") == "err") {
    out.push_back({Level::kWarning, "the append-only file cannot be written",
                   "the server refuses all writes with MISCONF errors",
                   "see the server's log: most often its disk is full", "", "aof"});
  }
  const double needed = server.config_number("min-replicas-to-write").value_or(0);
  const double good = server.info_number("min_slaves_good_slaves").value_or(0);
  const double replicas = server.info_number("connected_slaves").value_or(0);
  if (needed > good) {
    out.push_back(
        {Level::kWarning,
         fmt::format("min-replicas-to-write is {:.0f}, the number of good replicas {:.0f}", needed,
                     good),
         "the server refuses all writes with NOREPLICAS errors",
         "bring the replicas back, or lower it",
         fmt::format("CONFIG SET min-replicas-to-write {:.0f}", good), "replicas"});
  } else if (replicas > 0 && needed == 0) {
    out.push_back({Level::kNote,
                   fmt::format("the server has {:.0f} {}, and min-replicas-to-write is 0", replicas,
                               replicas == 1 ? "replica" : "replicas"),
                   "a master that a network split has cut off goes on taking writes "
                   "that are lost later, and a proxy beside it goes on serving its data",
                   "let it stop when it has lost its replicas",
                   "CONFIG SET min-replicas-to-write 1", "split"});
  }
  if (out.size() == before && !server.info("rdb_last_bgsave_status").empty())
    out.push_back({Level::kOk, "no setting makes the server refuse writes"});
}

void check_commands(const Facts& facts, Findings& out) {
  const resp::Value* const known = facts.server.reply("COMMAND INFO");
  if (known == nullptr) return;
  std::string missing;
  const std::span<const std::string_view> names = named_commands();
  for (std::size_t i = 0; i < std::min(names.size(), known->items.size()); ++i)
    if (known->items[i].items.empty())
      missing += (missing.empty() ? "" : ", ") + std::string(names[i]);
  if (missing.empty()) {
    out.push_back({Level::kOk,
                   fmt::format("none of {} common commands is renamed or disabled", names.size())});
    return;
  }
  out.push_back({Level::kNote, "renamed or disabled on the server: " + missing,
                 "clients get \"unknown command\" for them, with and without the proxy",
                 "if that is not meant, remove rename-command from the server's configuration"});
}

}  // namespace

std::span<const std::string_view> named_commands() {
  static constexpr std::array<std::string_view, 23> kNames = {
      "get",   "set",  "mget",   "del",    "expire",   "hget",    "hgetall",   "incr",
      "multi", "exec", "watch",  "eval",   "evalsha",  "publish", "subscribe", "blpop",
      "scan",  "keys", "select", "client", "flushall", "config",  "monitor"};
  return kNames;
}

std::span<const Check> setting_checks() {
  static constexpr std::array<Check, 7> kRows = {{
      {"commands", "Which common commands are renamed or disabled (COMMAND INFO).", Needs::kData,
       When::kStart, check_commands},
      {"eviction",
       "maxmemory-policy and how full the memory is. "
       "Keys with copies are touched once a second where the server evicts by use.",
       Needs::kData, When::kConnect, check_eviction},
      {"output-buffers", "client-output-buffer-limit of normal and pubsub clients.", Needs::kData,
       When::kStart, check_output_buffers},
      {"idle-connections", "The server's timeout and tcp-keepalive.", Needs::kData, When::kStart,
       check_idle},
      {"server-clients",
       "maxclients against the clients that are there and proxy.maximum-private-connections.",
       Needs::kData, When::kStart, check_server_clients},
      {"client-eviction",
       "maxmemory-clients: whether the server may close connections of the proxy.", Needs::kData,
       When::kStart, check_client_eviction},
      {"writes",
       "Whether failed snapshots or missing replicas make the server refuse writes, "
       "and what a network split does.",
       Needs::kData, When::kConnect, check_writes},
  }};
  return kRows;
}

}  // namespace heatsink::doctor
