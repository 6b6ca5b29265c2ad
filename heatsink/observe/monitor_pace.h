// SPDX-License-Identifier: Apache-2.0
// Decides when to listen to MONITOR, and for how long, within a limit on its cost.
#pragma once

#include <cstdint>
#include <optional>
#include <random>

#include "heatsink/base/clock.h"
#include "heatsink/base/units.h"

namespace heatsink::observe {

struct MonitorPaceOptions {
  Nanos on = Millis(200);    // at most, of each cycle
  Nanos off = Millis(1800);  // on average
  Share price_max{0.02};     // of the server's one core, over time
  std::uint64_t seed = 0;
};

// What a server did between two moments.
struct ServerWork {
  double seconds = 0;
  double commands = 0;
  double cpu_seconds = 0;  // of its process
};

// The duty cycle. MONITOR makes every command dearer: what that costs is measured, by the CPU time
// per command with and without it, and the windows are as long as keep the mean below price_max,
// never longer than `on`. Until it is known, kAssumedLoss is taken. The first kShortCycles cycles
// are a quarter as long, so that there are bounds within a few seconds. Between windows passes
// a random time, exponential around its mean and held within a quarter and three times of it:
// Poisson samples see time averages (Wolff, Operations Research 1982), so periodic traffic is not
// hit always at the same place. Uniform in [1/2, 3/2] was tried: on traffic that is on and off each
// half second, 93.7 % of the bounds held the truth instead of the 95 % promised.
// Not thread-safe.
class MonitorPace {
 public:
  static constexpr double kAssumedLoss = 0.6;  // of the server's core, while MONITOR is on
  static constexpr int kShortCycles = 8;
  static constexpr int kShorter = 4;
  static constexpr Nanos kOnMin = Millis(5);

  explicit MonitorPace(const MonitorPaceOptions& options);

  Nanos next_on() const;
  // `was_on`: how long the window really was. One that was longer than planned (this machine had
  // no time for us) is paid for by a longer pause.
  Nanos next_off(Nanos was_on = Nanos(0));

  // After each window: the server's work with MONITOR and, before it, without. Too little work
  // tells nothing. The latest few windows count.
  void learn(const ServerWork& with, const ServerWork& without);
  // The server or the connection is under strain: the windows get half as long, for good.
  void halve();

  // What MONITOR takes of the server's core while it is on; nothing: not known.
  std::optional<double> loss() const { return loss_; }
  // Over time, at the present duty cycle; nothing: not known.
  std::optional<Share> price() const;

 private:
  Nanos period() const;
  double fraction() const;  // of the time, that MONITOR may be on

  MonitorPaceOptions options_;
  std::mt19937_64 random_;
  std::optional<double> loss_;
  double strain_ = 1;  // what is left of the length after halve()
  int cycles_ = 0;
};

}  // namespace heatsink::observe
