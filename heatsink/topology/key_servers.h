// SPDX-License-Identifier: Apache-2.0
// The servers that have the keys, as a user of copies needs them: tracking, commands, and proofs.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/base/result.h"
#include "heatsink/net/net.h"
#include "heatsink/redis/redis.h"
#include "heatsink/topology/address_translation.h"

namespace heatsink::topology {

// The number of the server that a copy depends on. 0: the one server of server.url; otherwise a
// node of a cluster.
using ServerIndex = std::uint16_t;

// Notifications about copies. The thread of the KeyServers calls them, in the order of each server.
class ChangeListener {
 public:
  virtual void on_changed(std::string_view key) = 0;
  virtual void on_all_changed() = 0;
  // The copies of one server, or of these slots (by number), may be out of date.
  virtual void on_server_changed(ServerIndex server) = 0;
  virtual void on_slots_changed(const std::vector<bool>& slots) = 0;
  // Until this time, copies of this server without a notification are valid. A time in the past
  // means that validity is unknown. A thread that sees this call's effect sees the effects of all
  // earlier calls.
  virtual void on_proven(ServerIndex server, TimePoint until) = 0;
  // Grows by the commands that no caller has asked for; it outlives all connections. Null: they are
  // not counted.
  virtual std::atomic<std::uint64_t>* own_commands() { return nullptr; }

 protected:
  ~ChangeListener() = default;
};

struct KeyServersOptions {
  net::RedisUrl url;  // of the server, of what finds it, of a cluster, or of a node of a cluster
  net::TlsContext tls;
  redis::Credentials sentinel_credentials;
  AddressTranslation translation;  // of the addresses that nodes announce
  redis::TrackerOptions tracker;
  redis::PipelineOptions pipeline;
  // Called for each connection, so that each draws its pauses from a seed of its own.
  std::function<redis::ServerConnectionOptions()> connection;
  Nanos max_staleness{};
  Nanos copy_life{};  // no copy is kept longer
};

// The loop's thread. OneServer and ClusterNodes implement it; they tell a ChangeListener what
// happens to copies, and a Listener the rest.
class KeyServers {
 public:
  class Listener {
   public:
    // Whether some server is proven, so that tracking makes sense.
    virtual void set_up(bool is_up) = 0;
    // Why no copies are served; "": all is well.
    virtual void set_problem(const std::string& problem) = 0;
    // Exactly once per track().
    virtual void on_tracked(const redis::FillReply& reply) = 0;
    // The one server is a node of a cluster: nothing is served until there is another KeyServers.
    virtual void on_cluster_found() = 0;

   protected:
    ~Listener() = default;
  };
  using Words = std::shared_ptr<const std::vector<std::string>>;
  using Done = redis::Pipeline::Done;

  virtual ~KeyServers() = default;

  virtual void begin() = 0;  // connects; call it once
  virtual void tick() = 0;   // at least twice per heartbeat interval
  virtual void flush() = 0;  // at the end of each turn of the loop
  // All that is under way ends with this error. Nothing else may be called then.
  virtual void close(const std::string& reason) = 0;

  // The server that would be asked to track the key now.
  virtual ServerIndex server_of(std::string_view key) const = 0;
  // Grows whenever copies of some slots may have lost their server: what was tracked before may
  // no longer be.
  virtual std::uint64_t losses() const = 0;
  // False: the key has got another server so lately that the one before may still answer, and not
  // know it. A client that asks the wrong one reads an old value.
  virtual bool has_certain_owner(std::string_view key) const = 0;
  virtual void track(redis::FillId id, std::string_view key) = 0;
  // Sends a command of one key, which is its second word. `done` is called exactly once.
  virtual void ask(Words words, Done done) = 0;
};

}  // namespace heatsink::topology
