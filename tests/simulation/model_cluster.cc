// SPDX-License-Identifier: Apache-2.0
// The commands of a cluster's node, in the model server.
#include <algorithm>
#include <array>

#include "tests/simulation/model_node.h"
#include "tests/simulation/model_state.h"

namespace heatsink::simulation {
namespace {

bool is_no_node(const ModelCall& call) {
  if (call.server.cluster != ModelCluster::kNone) return false;
  call.error("ERR This instance has cluster support disabled");
  return true;
}

// A range of slots with one owner.
struct Range {
  std::size_t first, last;
  ModelPort owner;
};

std::vector<Range> ranges_of(const ModelView& view) {
  std::vector<Range> out;
  for (std::size_t slot = 0; slot < view.owners.size(); ++slot) {
    const ModelPort owner = view.owners[slot];
    if (!out.empty() && out.back().owner == owner)
      out.back().last = slot;
    else
      out.push_back({slot, slot, owner});
  }
  std::erase_if(out, [](const Range& range) { return range.owner == 0; });
  return out;
}

std::string node_line(const ModelNode& node, ModelPort port, const ModelView::Member& member) {
  const std::string own = port == node.port() ? "myself," : "";
  std::string line = ModelNode::id(port) + " 127.0.0.1:" + std::to_string(port) + "@" +
                     std::to_string(port + 10000) + " " + own +
                     (member.is_master ? "master" : "slave") +
                     (member.has_failed   ? ",fail"
                      : member.is_suspect ? ",fail?"
                                          : "") +
                     " " + (member.is_master ? "-" : ModelNode::id(member.master)) + " 0 0 " +
                     std::to_string(member.epoch) + " connected";
  for (const Range& range : ranges_of(node.view())) {
    if (range.owner != port) continue;
    line += " " + std::to_string(range.first);
    if (range.last > range.first) line += "-" + std::to_string(range.last);
  }
  if (port != node.port()) return line + "\n";
  for (const auto& [slot, to] : node.view().migrating)
    line += " [" + std::to_string(slot) + "->-" + ModelNode::id(to) + "]";
  for (const auto& [slot, from] : node.view().importing)
    line += " [" + std::to_string(slot) + "-<-" + ModelNode::id(from) + "]";
  return line + "\n";
}

void cluster_nodes(const ModelCall& call) {
  if (is_no_node(call)) return;
  if (const ModelNode* node = call.server.node.get()) {
    std::string text;
    for (const auto& [port, member] : node->view().members) text += node_line(*node, port, member);
    return call.bulk(text);
  }
  const std::string own =
      "e7d1eecce10fd6bb5eb35b9f99a514335d9ba9ca 127.0.0.1:6379@16379 myself,master - 0 0 1 "
      "connected";
  call.bulk(own + (call.server.cluster == ModelCluster::kMoved ? "\n" : " 0-16383\n"));
}

// The node to which the slots have moved has raised the epoch.
void cluster_info(const ModelCall& call) {
  if (is_no_node(call)) return;
  bool is_down = call.server.cluster == ModelCluster::kDown;
  const bool is_first = call.server.cluster == ModelCluster::kOwner &&
                        call.server.cluster_port == ModelState::kFirstPort;
  std::uint64_t epoch = is_first || is_down ? 1 : 2, own_epoch = epoch;
  if (const ModelNode* node = call.server.node.get()) {
    const auto& members = node->view().members;
    const ModelView::Member& own = members.at(node->port());
    is_down = node->is_down();
    epoch = node->view().current_epoch;
    own_epoch = own.is_master ? own.epoch : members.at(own.master).epoch;
  }
  call.bulk(std::string("cluster_enabled:1\r\ncluster_state:") + (is_down ? "fail" : "ok") +
            "\r\ncluster_current_epoch:" + std::to_string(epoch) +
            "\r\ncluster_my_epoch:" + std::to_string(own_epoch) + "\r\n");
}

// [[first, last, [host, port, id], replicas...], ...]
void cluster_slots(const ModelCall& call) {
  if (is_no_node(call)) return;
  const ModelNode* node = call.server.node.get();
  if (node == nullptr) {
    resp::append_array_header(call.out, 1);
    resp::append_array_header(call.out, 3);
    call.integer(0);
    call.integer(resp::kSlots - 1);
    resp::append_array_header(call.out, 2);
    call.bulk("127.0.0.1");
    return call.integer(call.server.cluster == ModelCluster::kMoved ? ModelState::kOtherPort
                                                                    : call.server.cluster_port);
  }
  const std::vector<Range> ranges = ranges_of(node->view());
  resp::append_array_header(call.out, static_cast<std::int64_t>(ranges.size()));
  for (const Range& range : ranges) {
    std::vector<ModelPort> nodes = {range.owner};
    for (const auto& [port, member] : node->view().members)
      if (!member.is_master && member.master == range.owner && !member.has_failed)
        nodes.push_back(port);
    resp::append_array_header(call.out, static_cast<std::int64_t>(2 + nodes.size()));
    call.integer(static_cast<std::int64_t>(range.first));
    call.integer(static_cast<std::int64_t>(range.last));
    for (const ModelPort port : nodes) {
      resp::append_array_header(call.out, 4);
      call.bulk("127.0.0.1");
      call.integer(port);
      call.bulk(ModelNode::id(port));
      resp::append_array_header(call.out, 0);
    }
  }
}

void append_shard_node(const ModelCall& call, ModelPort port, const ModelView::Member& member) {
  resp::append_map_header(call.out, 7, call.protocol());
  call.bulk("id"), call.bulk(ModelNode::id(port));
  call.bulk("port"), call.integer(port);
  call.bulk("ip"), call.bulk("127.0.0.1");
  call.bulk("endpoint"), call.bulk("127.0.0.1");
  call.bulk("role"), call.bulk(member.is_master ? "master" : "replica");
  call.bulk("replication-offset"), call.integer(0);
  call.bulk("health"), call.bulk(member.has_failed ? "fail" : "online");
}

void cluster_shards(const ModelCall& call) {
  if (is_no_node(call)) return;
  const ModelNode* node = call.server.node.get();
  if (node == nullptr) return call.error("ERR unknown subcommand 'SHARDS'. Try CLUSTER HELP.");
  const std::vector<Range> ranges = ranges_of(node->view());
  const auto& members = node->view().members;
  const auto masters = std::count_if(members.begin(), members.end(),
                                     [](const auto& each) { return each.second.is_master; });
  resp::append_array_header(call.out, masters);
  for (const auto& [master, member] : members) {
    if (!member.is_master) continue;
    std::vector<std::size_t> ends;
    for (const Range& range : ranges)
      if (range.owner == master) ends.insert(ends.end(), {range.first, range.last});
    resp::append_map_header(call.out, 2, call.protocol());
    call.bulk("slots");
    resp::append_array_header(call.out, static_cast<std::int64_t>(ends.size()));
    for (const std::size_t end : ends) call.integer(static_cast<std::int64_t>(end));
    call.bulk("nodes");
    const auto is_of_it = [&, owner = master](const auto& each) {
      return each.first == owner || (!each.second.is_master && each.second.master == owner);
    };
    resp::append_array_header(call.out, std::count_if(members.begin(), members.end(), is_of_it));
    for (const auto& each : members)
      if (is_of_it(each)) append_shard_node(call, each.first, each.second);
  }
}

// ---- those of a node of several

ModelNode* node_of(const ModelCall& call) {
  if (call.server.node == nullptr) call.error("ERR This instance has cluster support disabled");
  return call.server.node.get();
}

void answer(const ModelCall& call, const std::string& error) {
  error.empty() ? call.ok() : call.error(error);
}

void cluster_myid(const ModelCall& call) {
  if (const ModelNode* node = node_of(call)) call.bulk(ModelNode::id(node->port()));
}

void cluster_setslot(const ModelCall& call) {
  ModelNode* const node = node_of(call);
  if (node == nullptr) return;
  const std::optional<std::int64_t> slot = resp::parse_decimal(call.args[2]);
  if (!slot || *slot < 0 || *slot >= resp::kSlots)
    return call.error("ERR Invalid or out of range slot");
  const ModelPort to = call.args.size() > 4 ? ModelNode::port_of(call.args[4]) : ModelPort{0};
  answer(call, node->set_slot(static_cast<std::uint16_t>(*slot), model_lower(call.args[3]), to));
}

void cluster_failover(const ModelCall& call) {
  ModelNode* const node = node_of(call);
  if (node == nullptr) return;
  answer(call, node->fail_over(call.args.size() > 2 ? model_lower(call.args[2]) : ""));
}

void cluster_bumpepoch(const ModelCall& call) {
  ModelNode* const node = node_of(call);
  if (node == nullptr) return;
  const std::string how = node->bump_epoch() ? "BUMPED " : "STILL ";
  resp::append_simple(call.out, how + std::to_string(node->view().members.at(node->port()).epoch));
}

void cluster_getkeysinslot(const ModelCall& call) {
  const ModelNode* node = node_of(call);
  if (node == nullptr) return;
  const auto slot = static_cast<std::uint16_t>(resp::parse_decimal(call.args[2]).value_or(0));
  const std::vector<std::string> keys = node->keys_of(slot);
  resp::append_array_header(call.out, static_cast<std::int64_t>(keys.size()));
  for (const std::string& key : keys) call.bulk(key);
}

void do_asking(const ModelCall& call) {
  if (is_no_node(call)) return;
  call.client.asking = true;
  call.ok();
}

void do_readonly(const ModelCall& call) {
  if (is_no_node(call)) return;
  call.client.readonly = true;
  call.ok();
}

void do_readwrite(const ModelCall& call) {
  call.client.readonly = false;
  call.ok();
}

// MIGRATE host port key|"" 0 timeout [KEYS key ...]. The model moves the keys at once: a real
// source serves nobody while it moves them.
void do_migrate(const ModelCall& call) {
  ModelNode* const node = node_of(call);
  if (node == nullptr) return;
  const auto port = static_cast<ModelPort>(resp::parse_decimal(call.args[2]).value_or(0));
  ModelNode* const found = node->at(port);
  if (found == nullptr || found == node)
    return call.error("IOERR error or timeout connecting to the client");
  ModelState& target = found->state();
  ModelKeys& keys = call.server.keys;
  std::vector<std::string_view> wanted = {call.args[3]};
  if (call.args.size() > 7) wanted.assign(call.args.begin() + 7, call.args.end());
  bool is_any = false;
  target.keys.begin_command(target.wall_now());
  for (const std::string_view key : wanted) {
    const ModelEntry* entry = keys.find(0, key);
    if (entry == nullptr) continue;
    is_any = true;
    target.keys.put(0, key, *entry);
    target.keys.changed(0, key);
    keys.erase(0, key);
  }
  target.send_to_replicas();
  is_any ? call.ok() : resp::append_simple(call.out, "NOKEY");
}

void config_get(const ModelCall& call) {
  const ModelNode* node = call.server.node.get();
  const std::string_view name = call.args[2];
  std::string value;
  if (node != nullptr && name == "cluster-allow-reads-when-down")
    value = node->options().allows_reads_when_down ? "yes" : "no";
  if (node != nullptr && name == "cluster-node-timeout")
    value = std::to_string(std::chrono::round<Millis>(node->options().node_timeout).count());
  resp::append_map_header(call.out, value.empty() ? 0 : 1, call.protocol());
  if (!value.empty()) call.bulk(name), call.bulk(value);
}

constexpr std::array kClusterCommands = {
    ModelCommand{"cluster|nodes", cluster_nodes},
    ModelCommand{"cluster|info", cluster_info},
    ModelCommand{"cluster|slots", cluster_slots},
    ModelCommand{"cluster|shards", cluster_shards},
    ModelCommand{"cluster|myid", cluster_myid},
    ModelCommand{"cluster|setslot", cluster_setslot},
    ModelCommand{"cluster|failover", cluster_failover},
    ModelCommand{"cluster|bumpepoch", cluster_bumpepoch},
    ModelCommand{"cluster|getkeysinslot", cluster_getkeysinslot},
    ModelCommand{"asking", do_asking},
    ModelCommand{"readonly", do_readonly},
    ModelCommand{"readwrite", do_readwrite},
    ModelCommand{"migrate", do_migrate},
    ModelCommand{"config|get", config_get}};

}  // namespace

std::span<const ModelCommand> model_cluster_commands() { return kClusterCommands; }

std::string ModelState::refused_by_cluster(const ModelClient& client, const ModelCommand& command,
                                           ModelArgs args) const {
  if (node != nullptr) return node->refusal(client, command, args);
  if (cluster != ModelCluster::kMoved && cluster != ModelCluster::kDown) return "";
  std::vector<resp::KeyRef> found;
  resp::find_keys(*command.facts, args, found);
  if (found.empty()) return "";
  return cluster == ModelCluster::kMoved ? "MOVED 7000 127.0.0.1:6378"
                                         : "CLUSTERDOWN The cluster is down";
}

}  // namespace heatsink::simulation
