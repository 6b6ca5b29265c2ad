// SPDX-License-Identifier: Apache-2.0
// Runs the choice of what gets a copy: from the sampled accesses of all workers to the table's
// order and the workers' number of reads.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "heatsink/admit/admit.h"
#include "heatsink/cache/cache.h"
#include "heatsink/copies/server_costs.h"
#include "heatsink/detect/detect.h"

namespace heatsink::copies {

// The keeper's thread. No clock.
class CopyChooser {
 public:
  struct Options {
    std::size_t copies_max = 65'536;        // cache.maximum-size
    Nanos life = std::chrono::seconds(10);  // cache.expire-after-write
    std::int64_t workers = 1;               // each gathers fills of its own
  };
  // Both outlive it.
  CopyChooser(const Options& options, admit::AdmissionState& state, cache::HotTable& table);

  void play(std::span<const admit::SampledAccess> accesses, TimePoint now);
  // What the server had to do since the last call.
  void saw(const ServerWork& work);
  // A fill has shown how long copies of this key live.
  void filled(KeyHash key, Nanos life) { chooser_.filled(key, life); }
  // Call it about once per second: follows what the table has room for, and what fills cost.
  void tick(TimePoint now);

  // Whether copies of a hot key that are filled again after each write are worth it. `is_held`:
  // they are now; then it takes more to end that.
  bool is_worth_holding(const detect::KeyCount& count, bool is_held) const;

  // For people.
  const admit::Choice& choice() const { return chooser_.choice(); }
  std::vector<admit::Chooser::Estimate> estimates() const { return chooser_.estimates(); }
  std::vector<admit::CopyCurve::Point> curve() const { return chooser_.curve(); }
  // Of the choice: a fill has its part of the wake-ups (reads_to_pay is not set).
  admit::Costs costs() const;
  Nanos spared_cpu() const { return costs_.spared_cpu(); }  // see ServerCosts
  std::size_t copies() const { return chooser_.copies(); }  // that fit

 private:
  admit::SizedChooser::Held held() const;
  void follow_costs();

  const Options options_;
  cache::HotTable& table_;
  ServerCosts costs_;
  admit::SizedChooser chooser_;
  double reads_ = 0;  // since ticked_at_, by the sample
  TimePoint ticked_at_{};
};

}  // namespace heatsink::copies
