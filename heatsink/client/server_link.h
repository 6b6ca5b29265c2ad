// SPDX-License-Identifier: Apache-2.0
// A client's connections to the servers of its keys: what tracks hot keys, and what sends commands.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/client/options.h"
#include "heatsink/client/runtime.h"
#include "heatsink/fleet/fleet.h"
#include "heatsink/redis/redis.h"
#include "heatsink/topology/key_servers.h"

namespace heatsink::client {

// What a link tells its owner. The link's thread calls it.
class ServerListener : public topology::ChangeListener {
 public:
  // With fleet.enabled: what this process counts now, with the names of its keys; and what the
  // fleet counts. Its keys are hashed with hash_seed() and in the database of the URL.
  virtual std::uint64_t hash_seed() const { return 0; }
  virtual std::vector<detect::Summary> counted() { return {}; }
  virtual fleet::Matters matters() const { return {}; }  // by the rules of this process
  struct FleetState {
    fleet::List list;  // null: not known now
    std::uint64_t instances = 1;
    std::string problem;
  };
  virtual void on_fleet(const FleetState&) {}

 protected:
  ~ServerListener() = default;
};

// One thread with connections that reconnect by themselves. Any thread may call; calls block. A
// forked child must not call or destroy it.
class ServerLink final : private topology::KeyServers::Listener {
 public:
  // Throws std::invalid_argument if server.url or a file of server.tls-* cannot be used. A server
  // that is down is no error. The runtime must outlive it.
  ServerLink(const ClientOptions& options, ServerListener& listener,
             Runtime& runtime = system_runtime());
  ~ServerLink();
  ServerLink(const ServerLink&) = delete;

  void start();
  void stop();  // pending calls end with an error

  // A tracked key: on_changed() reports every change after tracked_at.
  struct Watch {
    bool is_tracked = false;
    TimePoint tracked_at{};
    TimePoint deadline = TimePoint::max();  // the key's own end, never after the server's
    topology::ServerIndex server = 0;       // whose on_proven() the copy needs
    bool has_certain_owner = true;          // see topology::KeyServers::has_certain_owner()
    bool is_missing = false;                // the server had no such key then
  };
  // Blocks for one round trip, at most cache.max-staleness. Not tracked: the server is away, or
  // does not let this user read the key.
  Watch watch(std::string_view key);

  // Returns the reply to one command of one key, its second word. It may be the server's error.
  // Throws ServerUnavailable.
  resp::Value ask(std::initializer_list<std::string_view> request);

  // Why no copies are served; "": the tracker is up.
  std::string problem() const;

 private:
  struct Wire;
  struct Tracked {
    std::shared_ptr<Awaited<Watch>> answer;
    topology::ServerIndex server = 0;
    std::uint64_t losses = 0;  // of the servers when the key was asked for
    bool has_certain_owner = true;
  };

  void set_up(bool is_up) override { is_up_ = is_up; }
  void set_problem(const std::string& problem) override;
  void on_tracked(const redis::FillReply& reply) override;
  void on_cluster_found() override;

  void run();
  void begin_fleet();
  void tell_fleet();
  bool post(std::function<void()> work);  // false: stopped, or too much work waits
  std::string why_not_posted() const;
  void send_watch(const std::string& key, std::shared_ptr<Awaited<Watch>> answer);
  void send(topology::KeyServers::Words words, topology::KeyServers::Done done);
  void become_cluster();

  ServerListener& listener_;
  Runtime& runtime_;
  const ClientOptions options_;
  const Nanos patience_;  // for one command: connecting and the reply
  std::unique_ptr<Wire> wire_;
  std::unique_ptr<Thread> thread_;  // null: not started, or stopped
  mutable std::mutex post_mutex_;
  bool is_stopped_ = false;  // guarded by post_mutex_: the stopped loop runs no posts
  std::atomic<bool> is_up_{false};
  mutable std::mutex problem_mutex_;
  std::string problem_ = "not connected yet";

  // For the link's thread:
  fleet::List told_list_;
  std::string told_problem_;
  bool is_cluster_found_ = false;
  redis::FillId last_id_ = 0;
  std::unordered_map<redis::FillId, Tracked> watches_;
};

}  // namespace heatsink::client
