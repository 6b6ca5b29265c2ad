// SPDX-License-Identifier: Apache-2.0
// A server, proxies and clients on a simulated network, with faults; all from one seed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "heatsink/proxy/options.h"
#include "tests/consistency/load_spec.h"
#include "tests/consistency/recorder.h"
#include "tests/simulation/library_process.h"
#include "tests/simulation/model_server.h"
#include "tests/simulation/network.h"
#include "tests/simulation/scheduler.h"

namespace heatsink::simulation {

// How often something goes wrong, per virtual second and process. 0: never.
struct Faults {
  double stop_server = 0;     // as SIGSTOP, for stop_min to stop_max
  double stop_loop = 0;       // one thread of a proxy
  double stop_proxy = 0;      // all its threads
  double restart_proxy = 0;   // kill -9, and a new process
  double restart_server = 0;  // with the loss of its data
  double cut = 0;             // each connection with a chance of one half
  double cut_trackers = 0;    // CLIENT KILL
  double forget = 0;          // the server forgets what it tracks, and says so
  // Of processes that use the library.
  double stop_thread = 0;      // any one
  double stop_link = 0;        // the one that talks to the server
  double stop_library = 0;     // all
  double restart_library = 0;  // kill -9, and a new process
  Nanos stop_min = Millis(1);
  Nanos stop_max = std::chrono::seconds(3);
};

struct WorldOptions {
  std::uint64_t seed = 1;
  std::size_t proxies = 1;
  std::size_t workers = 2;
  std::vector<consistency::LoadSpec> sessions;  // `via`: 0 the server, then proxies, libraries
  LibraryOptions library;
  std::string key_prefix = "k";
  proxy::ProxyOptions proxy;
  NetworkOptions network;
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
  std::uint64_t hits() const;    // reads that were answered from copies
  std::uint64_t events() const { return scheduler_.events_ran(); }

 private:
  struct Server;
  struct ProxyProcess;
  struct Clients;

  void schedule_fault(double per_second, void (World::*fault)());
  void stop_server();
  void stop_loop();
  void stop_proxy();
  void restart_proxy();
  void restart_server();
  void cut();
  void cut_trackers();
  void forget();
  void stop_thread() { libraries_->stop_one(stop_time()); }
  void stop_link() { libraries_->stop_link(stop_time()); }
  void stop_library() { libraries_->stop_all(stop_time()); }
  void restart_library() { libraries_->restart(stop_time()); }
  void expire();
  Nanos stop_time();
  ProxyProcess* any_proxy();  // null: it is down at the moment

  const WorldOptions options_;
  Scheduler scheduler_;
  Network network_;
  consistency::Recorder recorder_;
  std::vector<net::ResolvedAddress> addresses_;  // of the server, then of the proxies
  std::unique_ptr<Server> server_;
  std::vector<std::unique_ptr<ProxyProcess>> proxies_;
  std::unique_ptr<Libraries> libraries_;
  std::unique_ptr<Clients> clients_;
  std::uint64_t hits_of_the_dead_ = 0;
  bool faulty_ = true;
};

}  // namespace heatsink::simulation
