// SPDX-License-Identifier: Apache-2.0
// The model cluster of a simulated world, its administrator, and what goes wrong with it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/consistency/recorder.h"
#include "tests/simulation/model_bus.h"
#include "tests/simulation/model_node.h"
#include "tests/simulation/wall_clock.h"

namespace heatsink::simulation {

struct SimulatedClusterOptions {
  std::size_t masters = 0;   // with an even part of the slots each; 0: there is no cluster
  std::size_t replicas = 1;  // of each
  Nanos bus_delay_max = Millis(5);
  Nanos migrating_min = Millis(1);  // how long a slot is MIGRATING before its first key moves
  Nanos migrating_max = Millis(2500);
  // How its network comes apart; none: in any way.
  enum class Separation : std::uint8_t {
    kMasterFromAll,      // from the other nodes and the proxies
    kMasterWithProxies,  // these together from the other nodes
    kMasterFromProxies,
    kMasterFromNodes,  // but not from the proxies
  };
  std::optional<Separation> separation{};
  // Acts are about the slots of all keys that a server has; else of the clients' keys.
  bool acts_on_all_keys = false;
  // How long a copy of what an application's own loader has read may outlive its TTL, where the
  // tracked node has lost the slot and has an older value: cache.max-staleness, by
  // docs/decisions/0129. 0: there is no such loader.
  Nanos outlives_max{0};
  ModelNodeOptions nodes{};
};

// One thread. Acts go on by themselves for some seconds. While one does, or before its traces are
// gone (is_settled), the beginning of another does nothing: so no two failures meet that lose
// acknowledged writes. Times are random where a comment gives none.
class SimulatedCluster {
 public:
  static constexpr ModelPort kFirstPort = 7001;
  static constexpr Nanos kJustAfter = Millis(200);

  SimulatedCluster(Network& network, consistency::Recorder& recorder, const WallClock& clock,
                   const SimulatedClusterOptions& options);
  ~SimulatedCluster();
  SimulatedCluster(const SimulatedCluster&) = delete;

  std::string url() const;
  bool is_settled() const;
  std::size_t acts() const { return acts_; }  // that have ended, with their traces
  ModelBus& bus() { return bus_; }
  ModelNode& node(ModelPort port);  // REQUIRES that it has not been killed
  // Of the slot of a key; a replica of that.
  ModelPort owner_of(std::string_view key) const { return bus_.owner(resp::key_slot(key)); }
  ModelPort replica_of(ModelPort master) const;
  std::vector<std::string> stored_names() const;  // of all keys of all masters, in order

  // ---- acts

  void move_slot();            // key by key
  void steal_slot();           // by a higher epoch; its owner hears of it later than all others
  void move_atomically();      // the pushes come late, or the source is mute meanwhile
  void fail_over();            // by hand: FAILOVER, FORCE or TAKEOVER
  void kill(Nanos time);       // a node; it comes back with its data
  void stop(Nanos time);       // a master, as SIGSTOP
  void stop_until_replaced();  // it goes on within kJustAfter behind the election
  // A network that comes apart: a master from the others, with the proxies or without them, or a
  // proxy from some nodes. `copiers`: the proxies and processes that have copies.
  void separate(Nanos time, const std::vector<std::string>& copiers);

  // ---- others

  void stop_node(ModelPort port, Nanos time);
  void stop_shortly();  // any node, for less than the others would notice
  void cut_trackers();
  void forget();

  // The recorded history without the reads that a node may have answered which no longer owned
  // their slot. What copies say remains. Writes of values that copies may outlive say so.
  consistency::History told_apart() const;

 private:
  struct Member;
  using Step = std::function<void()>;

  Scheduler& scheduler() { return network_.scheduler(); }
  bool begin();   // false: another act goes on
  void finish();  // once it is settled
  void after(Nanos pause, Step step) { scheduler().call_after(pause, std::move(step)); }
  Nanos some_time(Nanos least, Nanos most);
  std::uint16_t random_slot();
  ModelPort random_master();
  ModelPort other_master(ModelPort than);
  // Asks when the process does not stand still, and goes on with the reply.
  void ask(ModelPort port, std::vector<std::string> request, std::function<void(std::string)> then);
  void move_keys(std::uint16_t slot, ModelPort source, ModelPort target);
  void end_move(std::uint16_t slot, ModelPort source, ModelPort target);
  void when_known(ModelPort port, std::uint16_t slot, Step then);
  void keep_stopped(ModelPort master, std::uint16_t slot);
  void expire_some();
  void note_lives(consistency::History& history) const;
  void start(std::size_t index, ModelServer::Databases data, ModelView view, bool is_restart);

  Network& network_;
  consistency::Recorder& recorder_;
  const WallClock& clock_;
  const SimulatedClusterOptions options_;
  ModelBus bus_;
  std::vector<std::unique_ptr<Member>> members_;  // null: the process has been killed
  bool is_acting_ = false;
  bool is_apart_ = false;
  std::size_t acts_ = 0;
};

}  // namespace heatsink::simulation
