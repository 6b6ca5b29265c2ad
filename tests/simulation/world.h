// SPDX-License-Identifier: Apache-2.0
// A server, proxies and clients on a simulated network, with faults; all from one seed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "heatsink/policy/options.h"
#include "tests/consistency/load_spec.h"
#include "tests/consistency/recorder.h"
#include "tests/simulation/library_process.h"
#include "tests/simulation/network.h"
#include "tests/simulation/scheduler.h"
#include "tests/simulation/servers.h"
#include "tests/simulation/simulated_cluster.h"
#include "tests/simulation/wall_clock.h"

namespace heatsink::simulation {

// How often something goes wrong, per virtual second and process. 0: never.
struct Faults {
  double stop_server = 0;     // as SIGSTOP, for stop_min to stop_max
  double stop_loop = 0;       // one thread of a proxy
  double stop_keeper = 0;     // the one that keeps the copies
  double stop_proxy = 0;      // all its threads
  double restart_proxy = 0;   // kill -9, and a new process
  double restart_server = 0;  // with the loss of its data
  double cut = 0;             // each connection with a chance of one half
  double cut_trackers = 0;    // CLIENT KILL
  double forget = 0;          // the server forgets what it tracks, and says so
  double flush = 0;           // of another database
  double hold = 0;            // a keeper hears nothing for hold_min to hold_max
  double lose = 0;            // the same, and then its connections are cut, with what was held
  double garble = 0;          // the server breaks the protocol on the trackers' connections
  double answer_twice = 0;    // the server answers what has not been asked
  double move_clients = 0;    // from one worker of a proxy to another, a few or all
  double reconfigure = 0;     // a proxy gets other rules, levels and budgets
  // The server loses writes that it has acknowledged; each counts as a write of what came back.
  double restart_empty = 0;
  double restart_older = 0;      // with its last dump
  double fail_over = 0;          // to a replica
  double fail_over_hanging = 0;  // the old one hangs, and is not gone before a stop's time
  double fail_over_split = 0;    // likewise, but it answers the trackers that it still has
  // Wall clocks. A suspended machine's is late until it is set.
  double suspend_server = 0;
  double jump_clock = 0;         // the server's
  double jump_client_clock = 0;  // the clients', who name moments by it
  // Of a cluster (SimulatedCluster); cut_trackers and forget are of one node.
  double move_slot = 0;
  double steal_slot = 0;
  double move_atomically = 0;
  double fail_over_by_hand = 0;
  double kill_node = 0;
  double stop_master = 0;
  double stop_until_replaced = 0;
  double separate = 0;
  double stop_node_shortly = 0;
  // Of processes that use the library.
  double stop_thread = 0;      // any one
  double stop_link = 0;        // the one that talks to the server
  double stop_library = 0;     // all
  double restart_library = 0;  // kill -9, and a new process
  Nanos stop_min = Millis(1);
  Nanos stop_max = std::chrono::seconds(3);
  Nanos hold_min = Millis(50);
  Nanos hold_max = Millis(600);
  Nanos jump_min = Millis(10);
  Nanos jump_max = std::chrono::seconds(5);
};

// What the processes live with all the time.
struct Conditions {
  Nanos push_delay{0};  // so much later the keepers hear everything
  Nanos tear{0};        // between the two questions of a fill of GET
  double sleeps = 0;    // this part of the turns of a proxy's thread begins up to sleep_max late
  Nanos sleep_max = Millis(20);
  std::size_t window_bytes = NetworkOptions{}.window_bytes;
  std::uint32_t reads_of_a_copy = 0;  // a key gets a copy at this read; 0: the proxy chooses
};

struct WorldOptions {
  std::uint64_t seed = 1;
  std::size_t proxies = 1;
  // So many of them, the last ones, have no copies. They hear of new owners in a cluster at once.
  std::size_t plain_proxies = 0;
  std::size_t workers = 2;
  std::vector<consistency::LoadSpec> sessions;  // `via`: 0 the server, then proxies, libraries
  LibraryOptions library;
  std::string key_prefix = "k";
  policy::ProxyOptions proxy;
  NetworkOptions network;
  Conditions conditions;
  ServerOptions servers;
  SimulatedClusterOptions cluster;  // in the place of the server
  Faults faults;
};

class World {
 public:
  explicit World(WorldOptions options);
  ~World();
  World(const World&) = delete;

  // Plays on for so long in virtual time, then lets what is under way end.
  void play(Nanos time);

  const consistency::Recorder& recorder() const { return recorder_; }
  // What was recorded, as it is to be judged.
  consistency::History history() const;
  Scheduler& scheduler() { return scheduler_; }
  Servers& servers() { return *servers_; }           // REQUIRES that there is no cluster
  SimulatedCluster& cluster() { return *cluster_; }  // REQUIRES that there is one
  std::uint64_t hits() const;                        // of copies, and of clients' own
  std::uint64_t events() const { return scheduler_.events_ran(); }

 private:
  struct ProxyProcess;
  struct Clients;

  void schedule_faults();
  void schedule_fault(double per_second, void (World::*fault)());
  void stop_server() {
    if (servers_->is_up()) servers_->stop(stop_time());
  }
  void stop_loop();
  void stop_keeper();
  void stop_proxy();
  void restart_proxy();
  void restart_server() {
    if (servers_->is_up()) servers_->restart(stop_time());
  }
  void cut();
  void cut_trackers() { cluster_ ? cluster_->cut_trackers() : servers_->cut_trackers(); }
  void forget() { cluster_ ? cluster_->forget() : servers_->forget(); }
  void move_slot() { cluster_->move_slot(); }
  void steal_slot() { cluster_->steal_slot(); }
  void move_atomically() { cluster_->move_atomically(); }
  void fail_over_by_hand() { cluster_->fail_over(); }
  void kill_node() { cluster_->kill(stop_time()); }
  void stop_master() { cluster_->stop(stop_time()); }
  void stop_until_replaced() { cluster_->stop_until_replaced(); }
  void stop_node_shortly() { cluster_->stop_shortly(); }
  void separate();
  void stop_thread() { libraries_->stop_one(stop_time()); }
  void stop_link() { libraries_->stop_link(stop_time()); }
  void stop_library() { libraries_->stop_all(stop_time()); }
  void restart_library() { libraries_->restart(stop_time()); }
  void flush() { servers_->flush(); }
  void restart_empty() { servers_->restart_empty(stop_time()); }
  void restart_older() { servers_->restart_older(stop_time()); }
  void fail_over() { servers_->fail_over(stop_time(), Servers::Old::kIsGone); }
  void fail_over_hanging() { servers_->fail_over(stop_time(), Servers::Old::kHangs); }
  void fail_over_split() { servers_->fail_over(stop_time(), Servers::Old::kKeepsTrackers); }
  void suspend_server() { servers_->suspend(stop_time()); }
  void jump_clock() { servers_->jump_clock(jump_time()); }
  void jump_client_clock();
  void hold();
  void lose();
  void garble() { servers_->garble(); }
  void answer_twice() { servers_->answer_twice(); }
  void move_clients();
  void reconfigure();
  void hold_for_a_while(bool loses);
  Nanos stop_time();
  Nanos jump_time();
  Nanos random_time(Nanos least, Nanos most);
  void start_proxy(std::size_t which);
  void tell_plain_proxies(ModelPort owner);
  policy::ProxyOptions options_of_proxy(std::size_t which) const;
  LibraryOptions library_options() const;
  std::size_t first_plain() const { return options_.proxies - options_.plain_proxies; }
  ProxyProcess* any_proxy();  // null: it is down at the moment

  const WorldOptions options_;
  std::uint64_t processes_ = 0;  // proxies started so far
  Scheduler scheduler_;
  Network network_;
  consistency::Recorder recorder_;
  WallClock client_clock_;                       // of all clients
  std::vector<net::ResolvedAddress> addresses_;  // of the server, then of the proxies
  WallClock server_clock_;                       // of a cluster's nodes
  std::unique_ptr<Servers> servers_;             // or:
  std::unique_ptr<SimulatedCluster> cluster_;
  std::vector<std::unique_ptr<ProxyProcess>> proxies_;
  std::unique_ptr<Libraries> libraries_;
  std::unique_ptr<Clients> clients_;
  std::uint64_t hits_of_the_dead_ = 0;
  bool faulty_ = true;
};

}  // namespace heatsink::simulation
