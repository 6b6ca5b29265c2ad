// SPDX-License-Identifier: Apache-2.0
// Runs HEATSINK NODES, which lists the nodes of the cluster, and HEATSINK NODE <address> <command>,
// which runs a command about one of them: INFO, CONFIG, SLOWLOG, CLIENT, ... would otherwise reach
// any node.
#include <string>
#include <utility>
#include <vector>

#include "heatsink/base/printable.h"
#include "heatsink/command/ascii.h"
#include "heatsink/command/time_left.h"
#include "heatsink/session/session.h"

namespace heatsink::proxy {

bool Session::asks_nodes(const Request& request) {
  const std::vector<std::string_view>& args = request.args();
  return request.command == nullptr && args.size() > 1 &&
         equals_ignoring_case(args[0], "heatsink") &&
         (equals_ignoring_case(args[1], "nodes") || equals_ignoring_case(args[1], "node"));
}

Step Session::run_nodes(Request& request) {
  const std::shared_ptr<const topology::SlotMap> map = upstreams_->slot_map();
  if (map == nullptr)
    return reply_error(
        "ERR heatsink: there is no cluster behind the proxy: send the command "
        "without HEATSINK NODE");
  if (equals_ignoring_case(request.args()[1], "node")) return run_at_node(request, *map);
  if (request.args().size() != 2)
    return reply_error("ERR wrong number of arguments for 'heatsink nodes' command");
  ByteBuffer wire;
  std::size_t count = 0;
  const auto append = [&](topology::NodeIndex node, const std::string& what) {
    resp::append_array_header(wire, 2);
    resp::append_bulk(wire, parts_.shared.cluster.node(node).url().address.text());
    resp::append_bulk(wire, what);
    ++count;
  };
  for (const topology::SlotMap::Shard& shard : map->shards) {
    append(shard.master, "master of " + std::to_string(shard.slots) + " slots");
    const std::string master = parts_.shared.cluster.node(shard.master).url().address.text();
    for (const topology::NodeIndex replica : shard.replicas)
      append(replica, "replica of " + master);
  }
  ByteBuffer reply_wire;
  resp::append_array_header(reply_wire, static_cast<std::int64_t>(count));
  reply_wire.append(wire.view());
  return reply(reply_wire.view());
}

// The node's own connection executes it, with the same care for copies as without HEATSINK NODE.
Step Session::run_at_node(Request& request, const topology::SlotMap& map) {
  const std::vector<std::string_view>& args = request.args();
  if (args.size() < 4)
    return reply_error("ERR wrong number of arguments: HEATSINK NODE <host:port> <command> ...");
  redis::UpstreamAddress* node = nullptr;
  const auto look_at = [&](topology::NodeIndex index) {
    redis::UpstreamAddress& each = parts_.shared.cluster.node(index);
    if (each.url().address.text() == args[2]) node = &each;
  };
  for (const topology::SlotMap::Shard& shard : map.shards) {
    look_at(shard.master);
    for (const topology::NodeIndex replica : shard.replicas) look_at(replica);
  }
  if (node == nullptr)
    return reply_error("ERR heatsink: the cluster has no node " + printable(args[2], 128) +
                       ": HEATSINK NODES lists them");
  ByteBuffer wire;
  const std::vector<std::string_view> words(args.begin() + 3, args.end());
  resp::append_request(wire, words);
  Request inner(words, wire.view());
  inner.now = request.now;
  inner.is_last = request.is_last;
  inner.is_alone = request.is_alone;
  inner.command = parts_.commands.find(words);
  if (inner.command == nullptr)
    return reply_error("ERR unknown command '" + printable(words[0], 128) + "'");
  inner.facts = &parts_.commands.facts(*inner.command);
  inner.route = inner.facts->route;
  if (!inner.has_right_arity())
    return reply_error("ERR wrong number of arguments for '" + inner.command->name + "' command");
  std::vector<resp::KeyRef>& refs = parts_.key_refs;
  refs.clear();
  static_cast<void>(resp::find_keys(*inner.command, words, refs));
  const bool needs_no_state = inner.route == Route::kShared || inner.route == Route::kPrivate ||
                              inner.route == Route::kNoDb;
  if (!needs_no_state || !refs.empty())
    return reply_error(
        "ERR heatsink: HEATSINK NODE takes commands about a node, such as INFO, "
        "CONFIG, SLOWLOG and CLIENT LIST: none with keys, and none that changes the "
        "connection");
  if (request.has_waited()) {
    inner.waited().connection_error = std::exchange(request.waited().connection_error, {});
    inner.waited().db_error = std::exchange(request.waited().db_error, {});
  }
  inner.waited().redirected_to = node;
  return forward(inner, true);
}

// A node has answered WAIT. True: the client gets the joined reply now. False: the next node is
// asked, or the client has left.
bool Session::end_node_wait(const Pending& pending, std::string_view wire) {
  if (input_ended_ && is_blocked() && blocked_->wait().has_waited(private_->read_at())) {
    close();
    return false;
  }
  if (node_wait_->answered(wire)) {
    blocked_->drop();
    put_reply(pending.ticket, std::exchange(node_wait_, nullptr)->reply());
    return true;
  }
  std::string rest = wait_for_time_left();
  blocked_->drop();
  replies_.take_back(pending.ticket);
  repeat(std::move(rest), node_wait_->node(), false);
  return false;
}

}  // namespace heatsink::proxy
