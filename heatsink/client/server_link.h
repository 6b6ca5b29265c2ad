// SPDX-License-Identifier: Apache-2.0
// The client's own connections to its server: one that tracks hot keys, one for commands.
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

#include "heatsink/base/clock.h"
#include "heatsink/client/options.h"
#include "heatsink/client/runtime.h"
#include "heatsink/redis/redis.h"

namespace heatsink::client {

// What is heard of copies; called by the link's thread, in the server's order.
class ServerListener {
 public:
  virtual void on_changed(std::string_view key) = 0;
  virtual void on_all_changed() = 0;
  // Until then copies are known to be what the server had, or what it had not yet told to be over.
  // A moment in the past: nobody knows. Whoever sees this sees all that was told before.
  virtual void on_proven(TimePoint until) = 0;

 protected:
  ~ServerListener() = default;
};

// One thread with two connections, which come back by themselves. Any thread may call; calls block.
// Not to be called, nor destroyed, by a child that this process has forked.
class ServerLink final : private redis::TrackerEvents {
 public:
  // Throws std::invalid_argument: server.url, or a file of server.tls-*, cannot be used. Whether
  // the server is there does not matter. The runtime outlives it.
  ServerLink(const ClientOptions& options, ServerListener& listener,
             Runtime& runtime = system_runtime());
  ~ServerLink();
  ServerLink(const ServerLink&) = delete;

  void start();
  void stop();  // who waits gets an error

  // A key put under tracking: from tracked_at on, whatever changes it is told by on_changed().
  struct Watch {
    bool is_tracked = false;
    TimePoint tracked_at{};
    TimePoint deadline = TimePoint::max();  // the key's own end, never later than the server's
  };
  // Blocks for one round trip, cache.max-staleness at most. Not tracked: the server is not there,
  // or does not let this user read the key.
  Watch watch(std::string_view key);

  // One command's reply, an error of the server's among them. Throws ServerUnavailable.
  resp::Value ask(std::initializer_list<std::string_view> request);

  // Why nothing is served locally; "": the tracker is up.
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
  void set_problem(const std::string& problem);
  bool post(std::function<void()> work);
  void send_watch(const std::string& key, std::shared_ptr<Awaited<Watch>> answer);

  ServerListener& listener_;
  Runtime& runtime_;
  const Nanos max_staleness_;
  const Nanos heartbeat_interval_;
  const Nanos patience_;  // of a command: to connect and to be answered
  std::unique_ptr<Wire> wire_;
  std::unique_ptr<Thread> thread_;  // null: not started, or stopped
  std::mutex posting_;
  bool is_stopped_ = false;  // guarded by posting_: nobody would run what is posted
  std::atomic<bool> is_up_{false};
  mutable std::mutex problem_mutex_;
  std::string problem_ = "not connected yet";

  // The link's thread's:
  bool is_cluster_ = false;
  redis::FillId last_id_ = 0;
  std::unordered_map<redis::FillId, std::shared_ptr<Awaited<Watch>>> watches_;
};

}  // namespace heatsink::client
