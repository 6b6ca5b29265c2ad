// SPDX-License-Identifier: Apache-2.0
// A Redis server of few commands, with the behaviour that coherence rests on: order, TTLs,
// tracking.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "heatsink/base/byte_buffer.h"
#include "heatsink/net/net.h"
#include "heatsink/resp/resp.h"

namespace heatsink::simulation {

// Like Redis 7.0 in what it knows; an unknown command is answered as there. Belongs to its loop's
// thread.
//
// As in Redis: one command at a time; a key past its TTL is removed when a command meets it, or by
// expire_some(); CLIENT TRACKING remembers each name that a tracking client has read, in no
// database, and tells it once, in the order of its replies; a client's own writes are told behind
// their reply.
class ModelServer {
 public:
  struct Entry {
    std::string value;
    std::optional<TimePoint> ends;
  };
  using Keys = std::unordered_map<std::string, Entry>;
  using Databases = std::map<std::uint32_t, Keys>;

  ModelServer(net::EventLoop& loop, Databases databases);
  ~ModelServer();
  ModelServer(const ModelServer&) = delete;

  void accept(net::Stream stream);
  std::size_t clients() const { return clients_.size(); }
  std::uint64_t commands() const { return commands_; }
  Databases take_data() { return std::move(databases_); }  // for the server after a restart

  // As a node of a cluster. All slots are its own (kOwner), or another node's (kMoved), or it has
  // lost the majority of the other nodes and serves no keys (kDown). It says nothing of the change.
  enum class Cluster : std::uint8_t { kNone, kOwner, kMoved, kDown };
  void set_cluster(Cluster cluster) { cluster_ = cluster; }

  // Faults.
  void expire_some(std::size_t most);     // as the server's cycle does, in any order
  void forget_tracked(std::size_t most);  // tracking-table-max-keys: told as changes
  void kill(const std::function<bool(std::string_view name)>& chosen);  // CLIENT KILL, by name
  void flush_another_database();                                        // an empty one, by a client
  // Tells clients something that they have not asked for. `chosen` sees the connection and whether
  // all that was asked there has been answered.
  using Chosen = std::function<bool(std::string_view name, int fd, bool idle)>;
  void say(std::string_view bytes, const Chosen& chosen);

 private:
  struct Client;
  using Args = std::span<const std::string_view>;
  struct Command {
    std::string_view name;
    int arity;  // as Redis has it: negative is a minimum
    void (ModelServer::*run)(Client&, Args);
    bool reads_keys = false;  // tracked: from `first` on, all or the first only
    bool many = false;
  };
  static const std::map<std::string, Command, std::less<>>& table();

  TimePoint now() const { return loop_.clock(); }
  void execute(Client& client, Args args);
  void call(Client& client, const Command& command, Args args);
  bool refuses_key(Client& client, const Command& command);
  void track(Client& client, const Command& command, Args args);
  Entry* find(Client& client, std::string_view key);
  void erase(std::uint32_t db, const std::string& key);
  void touched(const std::string& key, std::uint32_t db);
  void push_invalidation(Client& to, const std::string* key);
  void remove(Client& client);

  void hello(Client& client, Args args);
  void auth(Client& client, Args args);
  void ping(Client& client, Args args);
  void select(Client& client, Args args);
  void get(Client& client, Args args);
  void mget(Client& client, Args args);
  void getrange(Client& client, Args args);
  void strlen(Client& client, Args args);
  void exists(Client& client, Args args);
  void lcs(Client& client, Args args);
  void pttl(Client& client, Args args);
  void set(Client& client, Args args);
  void eval(Client& client, Args args);
  void incr(Client& client, Args args);
  void del(Client& client, Args args);
  void pexpire(Client& client, Args args);
  void touch(Client& client, Args args);
  void flushall(Client& client, Args args);
  void client_command(Client& client, Args args);
  void info(Client& client, Args args);
  void cluster(Client& client, Args args);
  void acl(Client& client, Args args);
  void multi(Client& client, Args args);
  void exec(Client& client, Args args);
  void discard(Client& client, Args args);
  void watch(Client& client, Args args);
  void unwatch(Client& client, Args args);
  void put(Client& client, std::string_view key, std::string_view value, Nanos ttl);

  net::EventLoop& loop_;
  std::map<std::uint64_t, std::unique_ptr<Client>> clients_;
  std::uint64_t last_client_ = 0;
  std::uint64_t commands_ = 0;
  Databases databases_;
  std::map<std::string, std::set<std::uint64_t>, std::less<>> tracked_;  // by name: clients
  Cluster cluster_ = Cluster::kNone;
  std::uint64_t executing_ = 0;  // the client; 0: none
};

}  // namespace heatsink::simulation
