// SPDX-License-Identifier: Apache-2.0
// Runs the choice of what gets a copy: from the sampled accesses of all workers to the table's
// order and the workers' number of reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "heatsink/admit/admit.h"
#include "heatsink/cache/cache.h"
#include "heatsink/copies/learned.h"
#include "heatsink/copies/traffic_meter.h"
#include "heatsink/detect/detect.h"

namespace heatsink::copies {

// The keeper's thread. No clock.
class CopyChooser {
 public:
  struct Options {
    std::size_t copies_max = 65'536;        // cache.maximum-size
    Nanos life = std::chrono::seconds(10);  // cache.expire-after-write
    std::int64_t workers = 1;               // each queues fills of its own
    double server_weight = 1;               // cache.server-weight
    double wait_weight = 0.01;              // cache.wait-weight
    friend bool operator==(const Options&, const Options&) = default;
  };
  // Both outlive it.
  CopyChooser(const Options& options, admit::AdmissionState& state, cache::HotTable& table);

  // For the next process, and from the one before. The server's scale is ServerCpu's to believe.
  Learned learned() const;
  void begin_with(const Learned& learned);

  void play(std::span<const admit::SampledAccess> accesses, TimePoint now);
  // What the server takes in fact for its work (ServerCpu::scale()). Until it has told that, the
  // choice works with admit::kServerScaleBelieved.
  void set_server_scale(const admit::Scale& scale);
  // What the server had to do since the last call.
  void saw(const ServerWork& work);
  // What the keeper itself has done since the last call, of about a second.
  struct KeeperWork {
    Nanos time{0}, cpu{0};  // no cpu: it is not measured
    std::uint64_t fills = 0;
    // Pushes of the server, also for names whose copies have left the cache; those for held keys.
    std::uint64_t ends = 0, held_ends = 0;

    friend KeeperWork operator-(const KeeperWork& now, const KeeperWork& then) {
      return {now.time - then.time, now.cpu - then.cpu, now.fills - then.fills,
              now.ends - then.ends, now.held_ends - then.held_ends};
    }
  };
  void saw(const KeeperWork& work);
  // From now on. What has been measured, the prices and the traffic, stays; what the choice has
  // learned stays if neither `copies_max` nor `life` changes.
  void adopt(const Options& options);
  // A fill has shown how long copies of this key live.
  void filled(KeyHash key, Nanos life) { chooser_->filled(key, life); }
  // Call it about once per second: follows what the table has room for, and what fills cost.
  void tick(TimePoint now);

  // Whether copies of a hot key that are filled again after each write are worth it. `is_held`:
  // they are now; then it takes more to end that.
  bool is_worth_holding(const detect::KeyCount& count, bool is_held) const;

  // For people.
  const admit::CostedChooser& chooser() const { return *chooser_; }
  const admit::Choice& choice() const { return chooser_->choice(); }
  // The costs of the choice, in reads of the server: a fill has its part of the wake-ups
  // (reads_to_pay is not set).
  admit::Costs costs() const { return chooser_->costs(); }
  // How far the cost of a fill has wandered in about the last half minute: two standard deviations
  // of what a few seconds showed. The choice works with the mean.
  double fill_cost_spread() const { return fill_cost_.spread(); }
  // The CPU time that a hit spares the server, and the proxy; and what a fill takes the keeper.
  Nanos spared_cpu() const;
  Nanos spared_proxy_cpu() const;
  Nanos keeper_cpu() const;
  // How many times the built-in prices are taken, and how much longer a read waits for a fill than
  // for the server's own answer.
  struct Measured {
    admit::Scale server, keeper, worker;
    Nanos wait{0};
  };
  Measured measured() const {
    return {server_scale_, keeper_scale_.scale(), worker_scale_.scale(), traffic_.wait()};
  }

 private:
  // Mean and variance in which older values count less.
  class Wander {
   public:
    void note(double value);
    double spread() const;

   private:
    double weight_ = 0, mean_ = 0, variance_ = 0;
  };

  admit::SizedChooser::Held held() const;
  void follow();
  void set_prices();
  void begin(const std::optional<admit::Choice>& first);
  void measure_workers();

  admit::AdmissionState& state_;
  cache::HotTable& table_;
  Options options_;
  TrafficMeter traffic_;
  std::optional<admit::CostedChooser> chooser_;  // never none
  admit::Scale server_scale_{.value = admit::kServerScaleBelieved};
  admit::PriceScale keeper_scale_, worker_scale_;
  Wander fill_cost_;
  ServerWork done_;                // since the last tick
  std::uint64_t earned_ends_ = 0;  // since the last tick
};

}  // namespace heatsink::copies
