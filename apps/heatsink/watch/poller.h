// SPDX-License-Identifier: Apache-2.0
// Asks many admin ports once a second, and keeps the sum of what they tell.
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "apps/heatsink/watch/events.h"
#include "apps/heatsink/watch/sum.h"
#include "heatsink/base/result.h"
#include "heatsink/heat/heat.h"
#include "heatsink/net/net.h"

namespace heatsink::app {

// An admin port, and its token; "": none is required.
struct WatchedAdmin {
  net::HostPort address;
  std::string token;
};

// Has a thread that asks, without waiting for any instance: each has its own connection and its own
// limit of time, so one that hangs holds up no other. Thread-safe, but for construction and
// destruction.
class Poller {
 public:
  static constexpr std::size_t kInstancesMax = 64;
  static constexpr Nanos kInterval = std::chrono::seconds(1);
  static constexpr Nanos kTimeout = std::chrono::seconds(2);
  // An instance whose last answer is older is silent: the sums leave it out, and say so.
  static constexpr Nanos kSilentAfter = std::chrono::seconds(3);
  // /api/hotkeys has verdicts and advice; /api/counts, each second, has the rates.
  static constexpr int kRoundsPerView = 5;
  static constexpr int kRoundsPerTry = 60;  // of /api/counts, where there was none
  static constexpr std::size_t kViewBytesMax = 4U << 20U;

  struct Asked {
    std::uint64_t answers = 0, failures = 0;  // rounds of questions since the start
  };

  Poller(std::vector<WatchedAdmin> of, std::uint64_t seed);
  ~Poller();
  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;

  Status start();  // kUnavailable: no thread can be started

  std::shared_ptr<const Picture> picture() const;  // never null
  const heat::History& heat() const { return heat_; }
  std::vector<report::Event> events() const;
  std::vector<Asked> asked() const;  // by instance
  const std::vector<WatchedAdmin>& of() const { return of_; }

 private:
  class Peer;
  void run();
  void tick();
  std::vector<Instance> told(TimePoint now) const;
  void publish(TimePoint now);

  const std::vector<WatchedAdmin> of_;
  const std::uint64_t seed_;
  const TimePoint started_;
  boost::asio::io_context io_;
  boost::asio::steady_timer timer_{io_};
  std::vector<std::shared_ptr<Peer>> peers_;
  heat::History heat_;
  mutable std::mutex mutex_;  // guards the members below
  std::shared_ptr<const Picture> picture_;
  WatchEvents events_;
  std::vector<Asked> asked_;
  std::thread thread_;
};

}  // namespace heatsink::app
