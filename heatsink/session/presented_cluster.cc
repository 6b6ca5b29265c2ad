// SPDX-License-Identifier: Apache-2.0
#include "heatsink/session/presented_cluster.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "heatsink/base/hash.h"
#include "heatsink/command/ascii.h"

namespace heatsink::proxy {
namespace {

enum class Asked : std::uint8_t {
  kSlots,
  kShards,
  kNodes,
  kInfo,
  kMyId,
  kMyShardId,
  kKeySlot,
  kLinks,
  kReplicas,
  kFailureReports,
  kHelp,
  kServer,   // only a server of a cluster knows
  kRefused,  // it would change a cluster
};

struct Subcommand {
  std::string_view name;
  Asked asked;
  int arity;  // with CLUSTER and the name, as in COMMAND: -2 means two or more
};

constexpr std::array<Subcommand, 35> kSubcommands{{
    {"slots", Asked::kSlots, 2},
    {"shards", Asked::kShards, 2},
    {"nodes", Asked::kNodes, 2},
    {"info", Asked::kInfo, 2},
    {"myid", Asked::kMyId, 2},
    {"myshardid", Asked::kMyShardId, 2},
    {"keyslot", Asked::kKeySlot, 3},
    {"links", Asked::kLinks, 2},
    {"replicas", Asked::kReplicas, 3},
    {"slaves", Asked::kReplicas, 3},
    {"count-failure-reports", Asked::kFailureReports, 3},
    {"help", Asked::kHelp, 2},
    {"countkeysinslot", Asked::kServer, 3},
    {"getkeysinslot", Asked::kServer, 4},
    {"slot-stats", Asked::kServer, -4},
    {"addslots", Asked::kRefused, -3},
    {"addslotsrange", Asked::kRefused, -4},
    {"bumpepoch", Asked::kRefused, 2},
    {"delslots", Asked::kRefused, -3},
    {"delslotsrange", Asked::kRefused, -4},
    {"failover", Asked::kRefused, -2},
    {"flushslots", Asked::kRefused, 2},
    {"forget", Asked::kRefused, 3},
    {"meet", Asked::kRefused, -4},
    {"replicate", Asked::kRefused, -3},
    {"reset", Asked::kRefused, -2},
    {"saveconfig", Asked::kRefused, 2},
    {"set-config-epoch", Asked::kRefused, 3},
    {"setslot", Asked::kRefused, -4},
    // Of Redis 8 and Valkey 9.
    {"migration", Asked::kRefused, -2},
    {"migrateslots", Asked::kRefused, -2},
    {"cancelslotmigrations", Asked::kRefused, -2},
    {"flushslot", Asked::kServer, -3},
    {"getslotmigrations", Asked::kServer, -2},
    {"syncslots", Asked::kRefused, -2},
}};

constexpr std::array<std::string_view, 13> kHelp{
    "CLUSTER <subcommand> [<arg> [value] [opt] ...]. heatsink answers these:",
    "COUNT-FAILURE-REPORTS <node-id>",
    "HELP",
    "INFO",
    "KEYSLOT <key>",
    "LINKS",
    "MYID",
    "MYSHARDID",
    "NODES",
    "REPLICAS <node-id>",
    "SHARDS",
    "SLAVES <node-id>",
    "SLOTS"};

const Subcommand* find_subcommand(std::string_view name) {
  const auto* const found =
      std::find_if(kSubcommands.begin(), kSubcommands.end(),
                   [&](const Subcommand& each) { return equals_ignoring_case(name, each.name); });
  return found == kSubcommands.end() ? nullptr : found;
}

bool fits(const Subcommand& subcommand, std::size_t args) {
  const auto count = static_cast<int>(std::min<std::size_t>(args, INT32_MAX));
  return subcommand.arity < 0 ? count >= -subcommand.arity : count == subcommand.arity;
}

std::string upper(std::string_view name) {
  std::string out(name);
  for (char& c : out) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return out;
}

void append_hex(std::string& out, std::uint64_t value, int digits) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (int i = digits - 1; i >= 0; --i) out += kDigits[(value >> (4 * i)) & 0xFU];
}

// Not secret, and the same in each process: the seeds are fixed.
std::string hex_of(std::string_view text) {
  std::string out;
  append_hex(out, hash_name(text, 1).value, 16);
  append_hex(out, hash_name(text, 2).value, 16);
  append_hex(out, hash_name(text, 3).value, 8);
  return out;
}

// RESP3 has a type of its own for text that people read.
void append_text(ByteBuffer& out, std::string_view text, resp::Protocol protocol) {
  if (protocol == resp::Protocol::kResp2) return resp::append_bulk(out, text);
  out.append("=" + std::to_string(text.size() + 4) + "\r\ntxt:");
  out.append(text);
  out.append("\r\n");
}

// Servers put the port of the cluster bus there; the proxies have none.
std::uint32_t bus_port(std::uint16_t port) {
  constexpr std::uint32_t kAbove = 10'000;
  return port + kAbove <= UINT16_MAX ? port + kAbove : 0;
}

void replace(std::string& text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  if (at != std::string::npos) text.replace(at, from.size(), to);
}

// Of "$12\r\n<text>\r\n" or "=16\r\ntxt:<text>\r\n": the bytes before and in the text.
struct Text {
  char type;
  std::string_view text;
};
std::optional<Text> text_of_reply(std::string_view reply) {
  if (reply.empty() || (reply[0] != '$' && reply[0] != '=')) return std::nullopt;
  const std::size_t header = reply.find("\r\n");
  if (header == std::string_view::npos || reply.size() < header + 4) return std::nullopt;
  std::size_t size = 0;
  const auto [end, error] = std::from_chars(reply.data() + 1, reply.data() + header, size);
  if (error != std::errc{} || end != reply.data() + header || size + header + 4 != reply.size())
    return std::nullopt;
  return Text{reply[0], reply.substr(header + 2, size)};
}

}  // namespace

std::string PresentedCluster::node_id(const net::HostPort& address) {
  return hex_of(address.text());
}

std::string PresentedCluster::shard_id(const net::HostPort& address) {
  return hex_of("shard " + address.text());
}

PresentedCluster::Range PresentedCluster::range(std::size_t node) const {
  const std::size_t count = nodes_.nodes.size();
  return {resp::kSlots * node / count, resp::kSlots * (node + 1) / count - 1};
}

bool PresentedCluster::knows(std::string_view node) const {
  return std::any_of(nodes_.nodes.begin(), nodes_.nodes.end(), [&](const net::HostPort& each) {
    return equals_ignoring_case(node, node_id(each));
  });
}

void PresentedCluster::append_slots(ByteBuffer& out, resp::Protocol protocol) const {
  resp::append_array_header(out, static_cast<std::int64_t>(nodes_.nodes.size()));
  for (std::size_t node = 0; node < nodes_.nodes.size(); ++node) {
    resp::append_array_header(out, 3);
    resp::append_integer(out, static_cast<std::int64_t>(range(node).first));
    resp::append_integer(out, static_cast<std::int64_t>(range(node).last));
    resp::append_array_header(out, 4);
    resp::append_bulk(out, address(node).host);
    resp::append_integer(out, address(node).port);
    resp::append_bulk(out, id(node));
    resp::append_map_header(out, 0, protocol);  // further names of the node
  }
}

void PresentedCluster::append_shards(ByteBuffer& out, resp::Protocol protocol) const {
  resp::append_array_header(out, static_cast<std::int64_t>(nodes_.nodes.size()));
  for (std::size_t node = 0; node < nodes_.nodes.size(); ++node) {
    resp::append_map_header(out, 2, protocol);
    resp::append_bulk(out, "slots");
    resp::append_array_header(out, 2);
    resp::append_integer(out, static_cast<std::int64_t>(range(node).first));
    resp::append_integer(out, static_cast<std::int64_t>(range(node).last));
    resp::append_bulk(out, "nodes");
    resp::append_array_header(out, 1);
    append_shard_node(out, node, protocol);
  }
}

void PresentedCluster::append_shard_node(ByteBuffer& out, std::size_t node,
                                         resp::Protocol protocol) const {
  resp::append_map_header(out, 7, protocol);
  resp::append_bulk(out, "id");
  resp::append_bulk(out, id(node));
  resp::append_bulk(out, tls_ ? "tls-port" : "port");
  resp::append_integer(out, address(node).port);
  for (const char* name : {"ip", "endpoint"}) {
    resp::append_bulk(out, name);
    resp::append_bulk(out, address(node).host);
  }
  resp::append_bulk(out, "role");
  resp::append_bulk(out, "master");
  resp::append_bulk(out, "replication-offset");
  resp::append_integer(out, 0);
  resp::append_bulk(out, "health");
  resp::append_bulk(out, "online");
}

std::string PresentedCluster::nodes_text() const {
  std::string out;
  for (std::size_t node = 0; node < nodes_.nodes.size(); ++node) {
    const net::HostPort& at = address(node);
    out += id(node) + " " + at.host + ":" + std::to_string(at.port) + "@" +
           std::to_string(bus_port(at.port)) +
           (node == nodes_.self ? " myself,master" : " master") + " - 0 0 " +
           std::to_string(node + 1) + " connected " + std::to_string(range(node).first) + "-" +
           std::to_string(range(node).last) + "\n";
  }
  return out;
}

std::string PresentedCluster::info_text() const {
  const std::string count = std::to_string(nodes_.nodes.size());
  const std::string slots = std::to_string(resp::kSlots);
  return "cluster_state:ok\r\n"
         "cluster_slots_assigned:" +
         slots +
         "\r\n"
         "cluster_slots_ok:" +
         slots +
         "\r\n"
         "cluster_slots_pfail:0\r\n"
         "cluster_slots_fail:0\r\n"
         "cluster_known_nodes:" +
         count +
         "\r\n"
         "cluster_size:" +
         count +
         "\r\n"
         "cluster_current_epoch:" +
         count +
         "\r\n"
         "cluster_my_epoch:" +
         std::to_string(nodes_.self + 1) +
         "\r\n"
         "cluster_stats_messages_sent:0\r\n"
         "cluster_stats_messages_received:0\r\n"
         "total_cluster_links_buffer_limit_exceeded:0\r\n";
}

void PresentedCluster::append_reply(ByteBuffer& out, std::span<const std::string_view> args,
                                    resp::Protocol protocol) const {
  if (args.size() < 2)
    return resp::append_error(out, "ERR wrong number of arguments for 'cluster' command");
  const Subcommand* const subcommand = find_subcommand(args[1]);
  if (subcommand == nullptr)
    return resp::append_error(
        out,
        "ERR unknown subcommand '" + std::string(args[1].substr(0, 128)) + "'. Try CLUSTER HELP.");
  if (!fits(*subcommand, args.size()))
    return resp::append_error(out, "ERR wrong number of arguments for 'cluster|" +
                                       std::string(subcommand->name) + "' command");
  switch (subcommand->asked) {
    case Asked::kSlots:
      return append_slots(out, protocol);
    case Asked::kShards:
      return append_shards(out, protocol);
    case Asked::kNodes:
      return append_text(out, nodes_text(), protocol);
    case Asked::kInfo:
      return append_text(out, info_text(), protocol);
    case Asked::kMyId:
      return resp::append_bulk(out, id(nodes_.self));
    case Asked::kMyShardId:
      return resp::append_bulk(out, shard_id(address(nodes_.self)));
    case Asked::kKeySlot:
      return resp::append_integer(out, resp::key_slot(args[2]));
    case Asked::kLinks:
      return resp::append_array_header(out, 0);
    case Asked::kReplicas:
    case Asked::kFailureReports:
      if (!knows(args[2]))
        return resp::append_error(out, "ERR Unknown node " + std::string(args[2].substr(0, 128)));
      if (subcommand->asked == Asked::kReplicas) return resp::append_array_header(out, 0);
      return resp::append_integer(out, 0);
    case Asked::kHelp:
      resp::append_array_header(out, kHelp.size());
      for (const std::string_view line : kHelp) resp::append_simple(out, line);
      return;
    case Asked::kServer:
      return resp::append_error(
          out, "ERR heatsink: CLUSTER " + upper(subcommand->name) +
                   " needs a server in cluster mode, and the proxy's server is not; only the proxy "
                   "looks like a cluster (proxy.present-as)");
    case Asked::kRefused:
      return resp::append_error(
          out, "ERR heatsink: CLUSTER " + upper(subcommand->name) +
                   " is refused: it would change a cluster, and the proxy only looks like one "
                   "(proxy.present-as); send it to a node of a real cluster");
  }
}

bool needs_cluster_server(std::string_view subcommand) {
  const Subcommand* const found = find_subcommand(subcommand);
  return found != nullptr && found->asked == Asked::kServer;
}

std::string as_in_cluster(std::string_view reply) {
  std::string out(reply);
  const std::optional<Text> info = text_of_reply(reply);
  if (!info && (reply.starts_with('$') || reply.starts_with('=')))
    return "-ERR heatsink: the reply is larger than proxy.client-output-limit\r\n";
  if (!info) {
    replace(out, "$4\r\nmode\r\n$10\r\nstandalone\r\n", "$4\r\nmode\r\n$7\r\ncluster\r\n");
    return out;
  }
  std::string text(info->text);
  replace(text, "\r\nredis_mode:standalone\r\n", "\r\nredis_mode:cluster\r\n");
  replace(text, "\r\nserver_mode:standalone\r\n", "\r\nserver_mode:cluster\r\n");  // Valkey
  replace(text, "\r\ncluster_enabled:0\r\n", "\r\ncluster_enabled:1\r\n");
  return info->type + std::to_string(text.size()) + "\r\n" + text + "\r\n";
}

bool answers_as_cluster(const Request& request, const WorkerParts& parts, const ClientState& state,
                        bool receives_messages) {
  if (request.facts->route == Route::kHello || request.command->name == "info") return false;
  if (!policy::presents_cluster(parts.shared.options()) || state.transaction_failed()) return false;
  if (receives_messages && state.protocol_ == resp::Protocol::kResp2) return false;
  const bool is_cluster = equals_ignoring_case(request.args()[0], "cluster");
  if (!is_cluster) return request.has_right_arity();
  const bool asks_server = parts.shared.is_cluster_node.load(std::memory_order_relaxed) &&
                           request.args().size() > 1 && needs_cluster_server(request.args()[1]);
  return !asks_server;
}

// Each node of the presented cluster serves all slots and all reads, so READONLY, READWRITE and
// ASKING have nothing to change.
std::string reply_as_cluster(const Request& request, const WorkerParts& parts,
                             resp::Protocol protocol, const std::string& local_address) {
  if (!equals_ignoring_case(request.args()[0], "cluster")) return "+OK\r\n";
  const policy::ProxyOptions& options = parts.shared.options();
  Result<policy::Announced> nodes = policy::announced(options, local_address);
  ByteBuffer wire;
  if (!nodes.ok()) {
    resp::append_error(wire, "ERR heatsink: " + nodes.error().message);
  } else {
    PresentedCluster(std::move(nodes).value(), !options.tls_cert.empty())
        .append_reply(wire, request.args(), protocol);
  }
  return std::string(wire.view());
}

bool rewrites_for_cluster(const Request& request, PartRequest of, const WorkerParts& parts,
                          const ClientState& state) {
  if (state.in_multi_ || !policy::presents_cluster(parts.shared.options())) return false;
  const bool is_info = of.part == SessionPart::kNone && request.command->name == "info";
  return is_info || (of.part == SessionPart::kIdentity && request.facts->route == Route::kHello);
}

}  // namespace heatsink::proxy
