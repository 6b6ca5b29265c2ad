// SPDX-License-Identifier: Apache-2.0
// A client's two connections to its server: one that tracks hot keys, one for commands.
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

namespace heatsink::client {

// Notifications about copies. The link's thread calls them, in the order of the server.
class ServerListener {
 public:
  virtual void on_changed(std::string_view key) = 0;
  virtual void on_all_changed() = 0;
  // Until this time, copies without a notification are valid. A time in the past means that
  // validity is unknown. A thread that sees this call's effect sees the effects of all earlier
  // calls.
  virtual void on_proven(TimePoint until) = 0;

  // With fleet.enabled: what this process counts now, with the names of its keys; and what the
  // fleet counts. Its keys are hashed with hash_seed() and in the database of the URL.
  virtual std::uint64_t hash_seed() const { return 0; }
  virtual std::vector<detect::Summary> counted() { return {}; }
  struct FleetState {
    fleet::List list;  // null: not known now
    std::uint64_t instances = 1;
    std::string problem;
  };
  virtual void on_fleet(const FleetState&) {}

 protected:
  ~ServerListener() = default;
};

// One thread with two connections that reconnect by themselves. Any thread may call; calls block. A
// forked child must not call or destroy it.
class ServerLink final : private redis::TrackerEvents {
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
  };
  // Blocks for one round trip, at most cache.max-staleness. Not tracked: the server is away, or
  // does not let this user read the key.
  Watch watch(std::string_view key);

  // Returns the reply to one command, which may be the server's error. Throws ServerUnavailable.
  resp::Value ask(std::initializer_list<std::string_view> request);

  // Why no copies are served; "": the tracker is up.
  std::string problem() const;

 private:
  struct Wire;

  void on_facts(const redis::ServerFacts& facts) override;
  void on_up() override;
  void on_heartbeat(TimePoint sent_at) override;
  void on_invalidate(std::string_view name) override;
  void on_flush() override;
  void on_filled(const redis::FillReply& reply) override;
  void on_barrier(std::uint64_t) override {}
  void on_rights_changed() override;
  void on_down(const std::string& reason) override;

  void run();
  void tick();
  void begin_fleet();
  void tell_fleet();
  void set_problem(const std::string& problem);
  bool post(std::function<void()> work);
  void send_watch(const std::string& key, std::shared_ptr<Awaited<Watch>> answer);

  ServerListener& listener_;
  Runtime& runtime_;
  const Nanos max_staleness_;
  const Nanos heartbeat_interval_;
  const Nanos patience_;  // for one command: connecting and the reply
  std::unique_ptr<Wire> wire_;
  std::unique_ptr<Thread> thread_;  // null: not started, or stopped
  std::mutex post_mutex_;
  bool is_stopped_ = false;  // guarded by post_mutex_: the stopped loop runs no posts
  std::atomic<bool> is_up_{false};
  mutable std::mutex problem_mutex_;
  std::string problem_ = "not connected yet";

  // For the link's thread:
  const bool has_fleet_;
  fleet::List told_list_;
  std::string told_problem_;
  bool is_cluster_ = false;
  redis::FillId last_id_ = 0;
  std::unordered_map<redis::FillId, std::shared_ptr<Awaited<Watch>>> watches_;
};

}  // namespace heatsink::client
