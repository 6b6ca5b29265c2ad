// SPDX-License-Identifier: Apache-2.0
#include "heatsink/session/node_commands.h"

#include <string>
#include <utility>
#include <vector>

#include "heatsink/base/printable.h"
#include "heatsink/command/ascii.h"
#include "heatsink/redis/upstream_address.h"

namespace heatsink::proxy {

bool NodeCommands::asks(const Request& request) {
  const std::vector<std::string_view>& args = request.args();
  return request.command == nullptr && args.size() > 1 &&
         equals_ignoring_case(args[0], "heatsink") &&
         (equals_ignoring_case(args[1], "nodes") || equals_ignoring_case(args[1], "node"));
}

Step NodeCommands::run(Request& request) {
  const std::shared_ptr<const topology::SlotMap> map = client_.slot_map();
  if (map == nullptr)
    return client_.reply_error(
        "ERR heatsink: there is no cluster behind the proxy: send the command "
        "without HEATSINK NODE");
  if (equals_ignoring_case(request.args()[1], "node")) return run_at_node(request, *map);
  if (request.args().size() != 2)
    return client_.reply_error("ERR wrong number of arguments for 'heatsink nodes' command");
  return list(*map);
}

Step NodeCommands::list(const topology::SlotMap& map) {
  ByteBuffer wire;
  std::size_t count = 0;
  const auto append = [&](topology::NodeIndex node, const std::string& what) {
    resp::append_array_header(wire, 2);
    resp::append_bulk(wire, parts_.shared.cluster.node(node).url().address.text());
    resp::append_bulk(wire, what);
    ++count;
  };
  for (const topology::SlotMap::Shard& shard : map.shards) {
    append(shard.master, "master of " + std::to_string(shard.slots) + " slots");
    const std::string master = parts_.shared.cluster.node(shard.master).url().address.text();
    for (const topology::NodeIndex replica : shard.replicas)
      append(replica, "replica of " + master);
  }
  ByteBuffer reply_wire;
  resp::append_array_header(reply_wire, static_cast<std::int64_t>(count));
  reply_wire.append(wire.view());
  return client_.reply(reply_wire.view());
}

// Null: the map does not have it.
redis::UpstreamAddress* NodeCommands::node_at(std::string_view address,
                                              const topology::SlotMap& map) const {
  redis::UpstreamAddress* node = nullptr;
  const auto look_at = [&](topology::NodeIndex index) {
    redis::UpstreamAddress& each = parts_.shared.cluster.node(index);
    if (each.url().address.text() == address) node = &each;
  };
  for (const topology::SlotMap::Shard& shard : map.shards) {
    look_at(shard.master);
    for (const topology::NodeIndex replica : shard.replicas) look_at(replica);
  }
  return node;
}

// The node's own connection executes it, with the same care for copies as without HEATSINK NODE.
Step NodeCommands::run_at_node(Request& request, const topology::SlotMap& map) {
  const std::vector<std::string_view>& args = request.args();
  if (args.size() < 4)
    return client_.reply_error(
        "ERR wrong number of arguments: HEATSINK NODE <host:port> <command> ...");
  redis::UpstreamAddress* const node = node_at(args[2], map);
  if (node == nullptr)
    return client_.reply_error("ERR heatsink: the cluster has no node " + printable(args[2], 128) +
                               ": HEATSINK NODES lists them");
  ByteBuffer wire;
  const std::vector<std::string_view> words(args.begin() + 3, args.end());
  resp::append_request(wire, words);
  Request inner(words, wire.view());
  inner.now = request.now;
  inner.is_last = request.is_last;
  inner.is_alone = request.is_alone;
  inner.command = commands_.find(words);
  if (inner.command == nullptr)
    return client_.reply_error("ERR unknown command '" + printable(words[0], 128) + "'");
  inner.facts = &commands_.facts(*inner.command);
  inner.route = inner.facts->route;
  if (!inner.has_right_arity())
    return client_.reply_error("ERR wrong number of arguments for '" + inner.command->name +
                               "' command");
  std::vector<resp::KeyRef>& refs = parts_.key_refs;
  refs.clear();
  static_cast<void>(resp::find_keys(*inner.command, words, refs));
  const bool needs_no_state = inner.route == Route::kShared || inner.route == Route::kPrivate ||
                              inner.route == Route::kNoDb;
  if (!needs_no_state || !refs.empty())
    return client_.reply_error(
        "ERR heatsink: HEATSINK NODE takes commands about a node, such as INFO, "
        "CONFIG, SLOWLOG and CLIENT LIST: none with keys, and none that changes the "
        "connection");
  if (request.has_waited()) {
    inner.waited().connection_error = std::exchange(request.waited().connection_error, {});
    inner.waited().db_error = std::exchange(request.waited().db_error, {});
  }
  inner.waited().redirected_to = node;
  return client_.forward_to_node(inner);
}

}  // namespace heatsink::proxy
