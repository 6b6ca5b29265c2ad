// SPDX-License-Identifier: Apache-2.0
// Runs one thread of the load: its loop, its clients, its share of the keys and of the rate.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "apps/heatsink/load/connection.h"
#include "apps/heatsink/load/source.h"
#include "apps/heatsink/load/tally.h"
#include "heatsink/net/event_loop.h"

namespace heatsink::app {

struct LoadOptions {
  std::uint64_t keys = 10'000;  // different ones
  double zipf = 0.99;
  std::size_t first_line = 0;  // of a file of keys, counted from 0
  double write_ratio = 0.01;   // 0 .. 1
  LoadShape shape;
  std::size_t clients = 16;
  double rate = 0;  // operations per second of all threads; 0: as fast as possible
  std::uint64_t seed = 1;
  std::size_t threads = 1;
  bool preload = true;  // write the keys first
};

// The constructor starts the thread, which first writes its share of the keys; the destructor ends
// it. Only the thread that made it may call the public functions. Does not own `target`.
class LoadWorker {
 public:
  LoadWorker(const LoadOptions& options, const LoadTarget& target, std::size_t index);
  ~LoadWorker();
  LoadWorker(const LoadWorker&) = delete;

  std::uint64_t preloaded() const { return preloaded_.load(std::memory_order_relaxed); }
  bool preload_done() const { return preload_done_.load(std::memory_order_acquire); }

  // Switches from the preload to the load itself, and forgets the preload's counts. REQUIRES:
  // preload_done().
  void begin_load();

  // The counts since the last call. Waits for the thread's next turn.
  Tally take();

 private:
  static constexpr Nanos kTick = Millis(1);

  void run();
  void tick();
  Tally hand_over();
  MixedSource::Keys keys() const;

  const LoadOptions options_;
  const std::size_t index_;
  Tally tally_;
  PreloadSource preload_;
  std::optional<MixedSource> mixed_;
  std::uint64_t given_up_told_ = 0;
  std::atomic<std::uint64_t> preloaded_{0};
  std::atomic<bool> preload_done_{false};
  net::EventLoop loop_;
  std::vector<std::unique_ptr<LoadConnection>> connections_;
  std::size_t first_to_pump_ = 0;
  std::thread thread_;
};

}  // namespace heatsink::app
