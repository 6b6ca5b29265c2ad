// SPDX-License-Identifier: Apache-2.0
// A Redis or Valkey server of few commands for simulations: order, TTLs, tracking, transactions and
// replication as in the real ones.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/net/net.h"
#include "tests/simulation/model_flavor.h"
#include "tests/simulation/model_keys.h"
#include "tests/simulation/wall_clock.h"

namespace heatsink::simulation {

class ModelBus;
class ModelNode;
class Node;
struct ModelNodeOptions;
struct ModelState;
struct ModelView;

// Belongs to its loop's thread. Its replies and pushes are the real server's bytes:
// model_differential_test compares both. As there, one command runs at a time; a key past its TTL
// is removed when a command meets it, or by expire_some(); a client is told of its own changes
// behind the reply.
//
// What it does not do, on purpose:
// * Values are strings, lists (RPUSH, LPUSH, LPOP, RPOP without a count, LLEN, LRANGE) and hashes
//   (model_hashes.cc), whose fields are in the order of their names.
// * EVAL knows scripts of the form "return redis.call('name', KEYS[1], ARGV[1], 'text')"; an error
//   of the command within is given as it is, without the place in the script. FCALL knows one
//   function, "run", which runs its arguments.
// * CLIENT TRACKING has no BCAST and no REDIRECT. A client of RESP2 that tracks is told nothing.
// * No passwords; the user "default" may do everything. No SUBSCRIBE, no blocking commands.
// * INFO, CLIENT LIST and COMMAND tell what heatsink reads of them.
// * LCS has no IDX.
// * As a node of a cluster it has all slots or none (set_cluster), or it is one of several (join).
// * Replicas take a copy of all keys each time they connect; the order of effects is the primary's.
class ModelServer {
 public:
  using Databases = ModelDatabases;

  ModelServer(net::EventLoop& loop, Databases databases, const ModelFlavor& flavor = kRedis7);
  ~ModelServer();
  ModelServer(const ModelServer&) = delete;

  void accept(net::Stream stream);
  std::size_t clients() const;
  std::uint64_t commands() const;
  Databases take_data();                     // for the server after a restart
  std::size_t keys(std::uint32_t db) const;  // with those that have ended

  // By which TTLs end; it outlives the server. Without one: the loop's clock.
  void use_wall_clock(const WallClock& clock);
  const Databases& data() const;

  // As a node of a cluster.
  using Cluster = ModelCluster;
  void set_cluster(Cluster cluster, std::uint16_t port = 6379);
  // A node of a model cluster from now on. `bus` and `process` outlive the server.
  ModelNode& join(ModelBus& bus, Node& process, std::uint16_t port, const ModelNodeOptions& options,
                  ModelView view, bool is_restart);
  // The reply of an administrator's client, which has no connection.
  std::string ask(const std::vector<std::string_view>& request);

  // Faults.
  void expire_some(std::size_t most);     // as the server's cycle does
  void forget_tracked(std::size_t most);  // any names, told as changes
  // As tracking-table-max-keys, where the server's cycle keeps it: call it now and then.
  void limit_tracked(std::size_t names_max);
  void kill(const std::function<bool(std::string_view name)>& chosen);  // CLIENT KILL, by name
  void flush_another_database();                                        // an empty one, by a client
  // Tells clients something that they have not asked for. `chosen` sees the connection and whether
  // all that was asked there has been answered.
  using Chosen = std::function<bool(std::string_view name, int fd, bool idle)>;
  void say(std::string_view bytes, const Chosen& chosen);

  // Replication. A replica connects to its primary, again and again, gives up its own keys for the
  // primary's, and follows. It refuses writes, and keeps what has ended until the primary deletes
  // it: its own clients do not see it. promote(): it keeps what has come so far, which may lack the
  // primary's last writes.
  void replicate_from(const net::ResolvedAddress& primary);
  void promote();
  bool is_replica() const;
  bool is_synced() const;  // a replica that has the primary's keys, and its connection

 private:
  class ReplicaLink;

  net::EventLoop& loop_;
  std::unique_ptr<ModelState> state_;
  std::unique_ptr<ReplicaLink> link_;
};

}  // namespace heatsink::simulation
