// SPDX-License-Identifier: Apache-2.0
// The servers of a simulated world: one behind the proxies' address, and those that take its place.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "tests/consistency/recorder.h"
#include "tests/simulation/model_server.h"
#include "tests/simulation/network.h"
#include "tests/simulation/restorations.h"
#include "tests/simulation/wall_clock.h"

namespace heatsink::simulation {

struct ServerOptions {
  bool expires_actively = true;
  // If not kNone: the server is a node of a cluster, and becomes this at `loses_keys_at`. Another
  // server, at an address of its own, has the keys then.
  ModelServer::Cluster loses_keys = ModelServer::Cluster::kNone;
  Nanos loses_keys_at = std::chrono::seconds(1);
  bool has_replica = false;
  Nanos replica_lag{0};    // what it hears comes so much later
  Nanos dump_interval{0};  // so often the data is saved, for restart_older(); 0: never
  double drift = 0;        // so much faster than time its wall clock runs
  ModelFlavor flavor = kRedis7;
};

// One thread. A process that is down hears nothing of the faults below.
class Servers {
 public:
  static constexpr std::uint16_t kPort = 6379;
  static constexpr std::uint16_t kOtherPort = 6378;    // of the node to which the keys move
  static constexpr std::uint16_t kReplicaPort = 6377;  // of the one that takes over

  Servers(Network& network, consistency::Recorder& recorder, const ServerOptions& options);
  ~Servers();
  Servers(const Servers&) = delete;

  // Of the one that clients past the proxies use.
  std::uint16_t port_past_proxies() const { return other_ == nullptr ? kPort : kOtherPort; }

  bool is_up() const { return server_ != nullptr; }

  // Faults. `time` and `pause`: how long it is away.
  void stop(Nanos time);      // as SIGSTOP
  void restart(Nanos pause);  // with all its data, as with appendfsync always
  void restart_empty(Nanos pause);
  void restart_older(Nanos pause);  // with the data of the last dump
  // The replica takes over the address, with what it has by then, and a new replica follows it
  // after the pause. Until then the old server is gone already, or hangs, or goes on and has cut
  // off all but the trackers.
  enum class Old : std::uint8_t { kIsGone, kHangs, kKeepsTrackers };
  void fail_over(Nanos pause, Old old);
  // The server becomes a replica that never hears of its primary, and a primary again.
  void demote();
  void promote();
  // The machine stands still, and its wall clock with it; that is put right some time afterwards.
  void suspend(Nanos time);
  void jump_clock(Nanos by) { clock_.jump(network_.scheduler().now(), by); }
  void cut_trackers();  // CLIENT KILL
  void forget();        // what it tracks, and says so
  void flush();         // of another database
  void garble();        // breaks the protocol on the trackers' connections
  void answer_twice();  // answers what has not been asked

  // Of the old server, behind a fail-over; 0 where there is none.
  std::size_t clients_of_old() const;
  const WallClock& clock() const { return clock_; }
  // The recorded history, where writes have been lost (Restorations).
  consistency::History told_apart() const { return restorations_.told_apart(); }

 private:
  struct Process;

  void begin_expiring();
  void begin_dumping();
  void begin_replica();
  void restart_with(Nanos pause, ModelServer::Databases data, bool is_a_loss);

  Network& network_;
  const ServerOptions options_;
  WallClock clock_;  // of the servers' machines
  Restorations restorations_;
  ModelServer::Databases dump_;
  std::unique_ptr<Process> server_, other_, replica_;
  std::unique_ptr<Process> old_;  // it has lost its address
};

}  // namespace heatsink::simulation
