// SPDX-License-Identifier: Apache-2.0
#include "heatsink/doctor/role_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <string_view>

#include "heatsink/base/printable.h"
#include "heatsink/redis/redis.h"

namespace heatsink::doctor {
namespace {

constexpr int kSlots = 16384;  // of a cluster
constexpr std::size_t kRoleTextMax = 64;

std::string shown(std::string_view text) { return printable(text, kRoleTextMax); }

// The text at `index` of ROLE's reply; "": there is none.
std::string_view role_text(const ServerFacts& server, std::size_t index) {
  const resp::Value* const role = server.reply("ROLE");
  if (role == nullptr || role->items.size() <= index) return "";
  return role->items[index].text;
}

bool is_replica(const ServerFacts& server) {
  const auto names_it = [](std::string_view role) { return role == "slave" || role == "replica"; };
  return names_it(role_text(server, 0)) || names_it(server.hello("role")) ||
         names_it(server.info("role"));
}

// --upstream for a master, `host` and `port` as a server sent them, and its replica `where`.
std::string replicas_flag(std::string_view host, std::string_view port, std::string_view where) {
  const bool is_v6 = host.find(':') != std::string_view::npos;
  const std::string master =
      fmt::format("{}{}{}:{}", is_v6 ? "[" : "", shown(host), is_v6 ? "]" : "", shown(port));
  if (where.starts_with("unix:")) return "--upstream redis://" + master;
  return "--upstream redis+replicas://" + master + "," + printable(where);
}

std::string text_or_empty(const resp::Value& map, std::string_view key) {
  const resp::Value* const value = map.find(key);
  return value != nullptr && value->is_text() ? value->text : "";
}

Finding sentinel_finding(const ServerFacts& server) {
  Finding out{Level::kError,
              printable(server.where) + " is a Sentinel, not a data server: it holds no keys",
              "every command of every client fails",
              "use redis+sentinel://" + printable(server.where) +
                  "/NAME, with the name of the master: the proxy then follows the master"};
  const resp::Value* const masters = server.reply("SENTINEL MASTERS");
  if (masters == nullptr || masters->items.empty()) return out;
  const resp::Value& first = masters->items.front();
  out.mend += fmt::format(
      " (it watches {}: '{}'{})", masters->items.size() == 1 ? "one master" : "masters",
      shown(text_or_empty(first, "name")), masters->items.size() == 1 ? "" : " and others");
  out.paste = "--upstream redis+sentinel://" + printable(server.where) + "/" +
              shown(text_or_empty(first, "name"));
  return out;
}

struct ClusterShape {
  int masters = 0;    // with slots
  int own_slots = 0;  // of the node itself
};

int slots_in(std::string_view range) {
  if (range.starts_with('[')) return 0;  // migrating
  const std::size_t dash = range.find('-');
  const auto number = [](std::string_view text) {
    int value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return std::clamp(value, 0, kSlots - 1);
  };
  if (dash == std::string_view::npos) return 1;
  return std::max(0, number(range.substr(dash + 1)) - number(range.substr(0, dash)) + 1);
}

// A line is "id address flags primary ping pong epoch link slot slot ...".
ClusterShape shape_of(std::string_view nodes) {
  constexpr int kFlags = 2, kFirstSlot = 8;
  ClusterShape shape;
  while (!nodes.empty()) {
    const std::size_t end = std::min(nodes.find('\n'), nodes.size());
    std::string_view line = nodes.substr(0, end);
    nodes.remove_prefix(std::min(end + 1, nodes.size()));
    std::string_view flags;
    int slots = 0;
    for (int field = 0; !line.empty(); ++field) {
      const std::size_t space = std::min(line.find(' '), line.size());
      const std::string_view word = line.substr(0, space);
      line.remove_prefix(std::min(space + 1, line.size()));
      if (field == kFlags) flags = word;
      if (field >= kFirstSlot) slots += slots_in(word);
    }
    shape.masters += slots > 0 ? 1 : 0;
    if (flags.find("myself") != std::string_view::npos) shape.own_slots = slots;
  }
  return shape;
}

Finding cluster_finding(const ServerFacts& server) {
  const std::string where = printable(server.where);
  const resp::Value* const nodes = server.reply("CLUSTER NODES");
  const ClusterShape shape = nodes == nullptr ? ClusterShape{} : shape_of(nodes->text);
  if (shape.own_slots == kSlots)
    return {Level::kOk, where + " is the only master of its cluster: it has all slots"};
  const std::string of =
      nodes == nullptr
          ? ""
          : fmt::format(" with {} {}: it has {} of {} slots", shape.masters,
                        shape.masters == 1 ? "master" : "masters", shape.own_slots, kSlots);
  return {Level::kOk, where + " is a node of a cluster" + of +
                          "; the proxy uses all nodes (docs/guides/clusters.md)"};
}

Finding replica_finding(const ServerFacts& server) {
  std::string_view host = role_text(server, 1), port;
  const resp::Value* const role = server.reply("ROLE");
  std::string port_text;
  if (role != nullptr && role->items.size() > 2) {
    port_text = std::to_string(role->items[2].integer);
    port = port_text;
  }
  if (host.empty()) host = server.info("master_host"), port = server.info("master_port");
  Finding out{Level::kWarning, printable(server.where) + " is a replica",
              "no local copies, because a replica may be any time behind; clients cannot write",
              "use redis+replicas:// with the addresses of both, which follows the master, "
              "or redis+sentinel:// if Sentinels watch it"};
  if (!host.empty()) {
    out.what += fmt::format(" of {}:{}", shown(host), shown(port));
    out.paste = replicas_flag(host, port, server.where);
  }
  if (server.info("master_link_status") == "down")
    out.what += "; its connection to the master is down";
  return out;
}

std::string_view mode_of(const ServerFacts& server) {
  const std::string_view mode = server.info("redis_mode");
  return mode.empty() ? server.hello("mode") : mode;
}

void check_kind(const Facts& facts, Findings& out) {
  const ServerFacts& server = facts.server;
  if (is_sentinel(server)) return out.push_back(sentinel_finding(server));
  const bool is_node = is_cluster_node(server), replicates = is_replica(server);
  if (is_node) out.push_back(cluster_finding(server));
  if (replicates) out.push_back(replica_finding(server));
  if (is_node) out.front().about = "cluster";
  if (!is_node && !replicates)
    out.push_back({Level::kOk, printable(server.where) + " is a master without cluster mode"});
}

void check_cluster_state(const Facts& facts, Findings& out) {
  const resp::Value* const text = facts.server.reply("CLUSTER INFO");
  if (text == nullptr) return;
  if (redis::info_field(text->text, "cluster_state") == "ok") {
    out.push_back({Level::kOk, "the cluster's state is ok"});
    return;
  }
  const std::string_view served = redis::info_field(text->text, "cluster_slots_ok");
  out.push_back(
      {Level::kError,
       fmt::format("the cluster is down: {} of {} slots are served", shown(served), kSlots),
       "the server refuses commands with CLUSTERDOWN errors, and there are no local copies",
       "bring the other masters back, or assign the missing slots",
       "redis-cli --cluster check " + printable(facts.server.where)});
}

void check_loading(const Facts& facts, Findings& out) {
  const ServerFacts& server = facts.server;
  const bool refuses = std::ranges::any_of(server.replies, [](const auto& each) {
    return each.second.is_error() && each.second.text.starts_with("LOADING");
  });
  const bool is_busy = std::ranges::any_of(server.replies, [](const auto& each) {
    return each.second.is_error() && each.second.text.starts_with("BUSY ");
  });
  if (is_busy) {
    out.push_back({Level::kWarning, "the server runs a slow script and refuses other commands",
                   "clients get BUSY errors meanwhile; checks of its keys and rights were not made",
                   "wait, or end the script", "SCRIPT KILL"});
    return;
  }
  if (!refuses && server.info("loading") != "1" && server.info("async_loading") != "1") {
    out.push_back({Level::kOk, "the server has loaded its data"});
    return;
  }
  const std::string_view percent = server.info("loading_loaded_perc");
  const std::string_view eta = server.info("loading_eta_seconds");
  out.push_back(
      {Level::kWarning,
       fmt::format("the server is loading its data{}{}",
                   percent.empty() ? "" : fmt::format(": {} % are loaded", shown(percent)),
                   eta.empty() ? "" : fmt::format(", about {} s to go", shown(eta))),
       "clients get LOADING errors, and there are no local copies, until it is done",
       "wait; then run it again, because checks of its keys and rights were not made"});
}

}  // namespace

bool is_sentinel(const ServerFacts& server) {
  return mode_of(server) == "sentinel" || role_text(server, 0) == "sentinel";
}

bool is_cluster_node(const ServerFacts& server) {
  return mode_of(server) == "cluster" || server.info("cluster_enabled") == "1";
}

namespace {

struct Product {
  std::string_view field;  // of INFO, with its version
  std::string_view name;
  bool is_tested;
};
// The first field that INFO has decides: others also claim to be some Redis.
constexpr std::array<Product, 5> kProducts = {{{"dragonfly_version", "Dragonfly", false},
                                               {"garnet_version", "Garnet", false},
                                               {"kvrocks_version", "Kvrocks", false},
                                               {"valkey_version", "Valkey", true},
                                               {"redis_version", "Redis", true}}};
constexpr int kMajorMin = 6;  // CLIENT TRACKING, RESP3 and ACLs came with it

void check_version(const Facts& facts, Findings& out) {
  const ServerFacts& server = facts.server;
  const auto product = std::ranges::find_if(
      kProducts, [&](const Product& each) { return !server.info(each.field).empty(); });
  std::string_view version = server.hello("version");
  const std::string_view said_name = server.hello("server");
  std::string_view name = "the server";
  if (said_name == "valkey") name = "Valkey";
  if (said_name == "redis") name = "Redis";
  if (product != kProducts.end()) {
    version = server.info(product->field);
    name = product->name;
  }
  if (version.empty()) return;
  const std::string said = fmt::format("{} {}", name, shown(version));
  if (product != kProducts.end() && !product->is_tested) {
    out.push_back(
        {Level::kNote, said + ": heatsink is not tested with it",
         "client tracking may behave differently from Redis's, on which copies rely",
         "compare reads with heatsink_audit_suspected_total, and see docs/design/audit.md"});
    return;
  }
  int major = 0;
  std::from_chars(version.data(), version.data() + version.size(), major);
  if (major < kMajorMin) {
    out.push_back({Level::kError, said + " is too old: local copies need Redis 6.0 or newer",
                   "no local copies; commands pass",
                   "upgrade the server, or use heatsink top only"});
    return;
  }
  out.push_back({Level::kOk, said});
}

void check_resp3(const Facts& facts, Findings& out) {
  const ServerFacts& server = facts.server;
  if (server.reply("HELLO") != nullptr) {
    out.push_back({Level::kOk, "RESP3 works (HELLO 3)"});
    return;
  }
  const std::string_view error = server.error("HELLO");
  if (error.empty()) return;
  out.push_back({Level::kError, "RESP3 does not work: HELLO 3 gets \"" + printable(error) + "\"",
                 "no local copies, and clients cannot use RESP3",
                 "connect to the server itself, not to another proxy in front of it; "
                 "allow HELLO if it was renamed"});
}

struct Service {
  std::string_view sign;  // a part of INFO's field os, or of its text
  std::string_view name;
};
constexpr std::array<Service, 3> kServices = {{{"Amazon ElastiCache", "Amazon ElastiCache"},
                                               {"Amazon MemoryDB", "Amazon MemoryDB"},
                                               {"Azure", "an Azure cache"}}};

void check_config(const Facts& facts, Findings& out) {
  const ServerFacts& server = facts.server;
  const std::string_view error = server.error("CONFIG GET timeout");
  if (error.empty()) {
    if (server.config("timeout")) out.push_back({Level::kOk, "the server shows its settings"});
    return;
  }
  if (error.starts_with("NOPERM")) {
    out.push_back({Level::kNote, "our user may not run CONFIG GET",
                   "the checks of the server's settings were not made; the proxy does not need it",
                   "let heatsink doctor run as an administrator, or grant it",
                   "ACL SETUSER " +
                       printable(redis::Credentials{facts.upstream.user, ""}.acl_user()) +
                       " +config|get"});
    return;
  }
  const std::string_view os = server.info("os");
  const auto service = std::ranges::find_if(
      kServices, [&](const Service& each) { return os.find(each.sign) != os.npos; });
  const std::string name = service == kServices.end()
                               ? std::string("a managed service, or CONFIG was renamed")
                               : std::string(service->name);
  out.push_back(
      {Level::kNote, "the server has no CONFIG: it is " + name,
       "the checks of the server's settings were not made",
       "compare them in the service's console: tracking-table-max-keys, maxmemory-policy, "
       "client-output-buffer-limit, timeout"});
}

}  // namespace

std::span<const Check> role_checks() {
  static constexpr std::array<Check, 6> kRows = {{
      {"server-kind",
       "Whether the server has all keys and accepts writes. "
       "A Sentinel, a cluster's node and a replica are named, with the address to use instead.",
       Needs::kLogin, When::kConnect, check_kind},
      {"cluster-state", "In a cluster: whether it serves all slots.", Needs::kData, When::kConnect,
       check_cluster_state},
      {"server-version", "The server's product and version. Local copies need version 6.0.",
       Needs::kLogin, When::kConnect, check_version},
      {"server-loading", "Whether the server still loads its data, or is busy with a script.",
       Needs::kLogin, When::kConnect, check_loading},
      {"resp3", "Whether HELLO 3 works. Invalidations come as RESP3 pushes.", Needs::kLogin,
       When::kConnect, check_resp3},
      {"server-settings",
       "Whether CONFIG GET works. Managed services forbid it; then their settings are not checked.",
       Needs::kData, When::kStart, check_config},
  }};
  return kRows;
}

}  // namespace heatsink::doctor
