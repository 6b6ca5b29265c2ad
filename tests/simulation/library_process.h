// SPDX-License-Identifier: Apache-2.0
// Simulated processes that use the client library, whose threads read and write and record it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "heatsink/client/options.h"
#include "tests/consistency/load_spec.h"
#include "tests/consistency/recorder.h"
#include "tests/simulation/fibers.h"
#include "tests/simulation/network.h"

namespace heatsink::simulation {

struct LibraryOptions {
  std::size_t count = 0;               // processes
  std::vector<std::string> options{};  // of the library: NAME=VALUE
  // Loads and writes go over connections of the application, one for each thread; else over the
  // library's. In a cluster they go through the first proxy without copies, which must be there.
  bool has_own_loader = false;
  // Their client asks the nodes that it knows: that proxy is not told at once of new owners.
  bool is_loader_late = false;
  Nanos dawdle_max{0};  // a loader rests for up to so long between the reply and its return
  // What the world sets: `server.url`, and where the connections of the application lead.
  std::string server_url = "redis://127.0.0.1:6379";
  net::ResolvedAddress loader_address{};
};

// One run of a process that links the library: a Client, and callers, each a thread.
class LibraryProcess : public std::enable_shared_from_this<LibraryProcess> {
 public:
  LibraryProcess(Fibers& fibers, Network& network, consistency::Recorder& recorder,
                 const LibraryOptions& options, const std::string& name);
  ~LibraryProcess();
  LibraryProcess(const LibraryProcess&) = delete;

  // `spec.count` callers. They know GET, SET, SET PX, DEL of database 0; `think_us` is the pause
  // between batches of `depth` operations, which come one after the other.
  void add_callers(const consistency::LoadSpec& spec);
  // The callers end after what they are doing now.
  void finish();
  // As kill -9: what is under way now is of unknown outcome, and nothing after it is recorded. What
  // the process has sent may still be executed, as after a real one. Ends by itself.
  void kill();

  // As if the system did not schedule them: one of its threads, the one that talks to the server,
  // all.
  void stop_one(Nanos time);
  void stop_link(Nanos time);
  void stop_all(Nanos time);

  std::uint64_t hits() const;

 private:
  struct Application;
  class Caller;

  std::unique_ptr<Application> application_;
};

// The processes of a world. A fiber waits for the end of each that was killed.
class Libraries {
 public:
  Libraries(Network& network, consistency::Recorder& recorder, LibraryOptions options);
  ~Libraries();  // REQUIRES stop()
  Libraries(const Libraries&) = delete;

  // Callers of the process with this number.
  void add(std::size_t number, const consistency::LoadSpec& spec);
  void start();
  void finish();
  void stop();  // runs the world on until all threads are over

  // Faults of any process.
  void stop_one(Nanos time);
  void stop_link(Nanos time);
  void stop_all(Nanos time);
  void restart(Nanos pause);

  std::uint64_t hits() const;
  static std::string name_of(std::size_t number);  // of a process, as a node of the network

 private:
  void begin(std::size_t number);
  LibraryProcess* any();  // null: it is down

  Network& network_;
  consistency::Recorder& recorder_;
  const LibraryOptions options_;
  Fibers fibers_;
  std::vector<std::vector<consistency::LoadSpec>> loads_;  // by process
  std::vector<std::shared_ptr<LibraryProcess>> processes_;
  std::uint64_t hits_of_the_dead_ = 0;
  bool is_over_ = false;
};

}  // namespace heatsink::simulation
