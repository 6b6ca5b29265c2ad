// SPDX-License-Identifier: Apache-2.0
// Decides when to listen to MONITOR, and for how long, within a limit on its cost.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <random>

#include "heatsink/base/clock.h"
#include "heatsink/base/units.h"

namespace heatsink::observe {

struct MonitorPaceOptions {
  Nanos on = Millis(200);    // the longest window of a cycle
  Nanos off = Millis(1800);  // the average pause
  Share price_max{0.02};     // of the server's one core, averaged over time
  std::uint64_t seed = 0;
};

// The work that a server did between two moments.
struct ServerWork {
  double seconds = 0;
  double commands = 0;
  double cpu_seconds = 0;  // of the server process
};

// Plans the duty cycle of MONITOR. MONITOR makes each command more expensive. The price is measured
// as the CPU time per command with and without it, and the windows get as long as keeps the mean
// below price_max, but never longer than `on`. Until it is measured, the price is taken as
// kSecondsPerCommandMax for each command, and as kAssumedLoss for a server of unknown rate. The
// first kShortCycles cycles are a quarter as long, so that bounds appear within a few seconds.
// While nothing is decided, up to kSpreadCycles cycles are short, because many short windows see
// more of bursty traffic than a few long ones.
//
// The pauses are random: exponential around their mean, limited to a quarter and three times of it.
// Poisson samples see time averages (Wolff, Operations Research 1982), so periodic traffic is not
// sampled always in the same phase. Tried and rejected: uniform in [1/2, 3/2]. On traffic that
// alternates every half second, 93.7 % of the bounds held the truth instead of the promised 95 %.
// Not thread-safe.
class MonitorPace {
 public:
  static constexpr double kAssumedLoss = 0.6;  // share of the server's core that MONITOR takes
  // The most that MONITOR adds to a command; measured: 2 - 10 us with one listener.
  static constexpr double kSecondsPerCommandMax = 50e-6;
  static constexpr double kUndecidedMost = 0.5;  // of the time, while nothing is decided
  static constexpr int kShortCycles = 8;
  static constexpr int kShorter = 4;
  static constexpr int kSpreadCycles = 60;  // short ones in all, while nothing is decided
  static constexpr Nanos kOnMin = Millis(5);

  explicit MonitorPace(const MonitorPaceOptions& options);

  Nanos next_on() const;
  // `was_on`: the real length of the window. A window that was longer than planned, because this
  // machine was busy, lengthens the next pause.
  Nanos next_off(Nanos was_on = Nanos(0));

  // Call it after each window with the server's work with MONITOR and, before it, without. Too
  // little work is ignored. The latest few windows count.
  void learn(const ServerWork& with, const ServerWork& without);
  // Commands per second that the server executes.
  void set_rate(double rate) { rate_ = rate; }
  // Whether the busiest key is still undecided.
  void set_undecided(bool undecided) { undecided_ = undecided; }
  // The server or the connection is overloaded: halves the windows for good.
  void halve();

  // The share of the server's core that MONITOR takes while it is on; nothing: not known.
  std::optional<double> loss() const { return loss_; }
  // The price over time, at the present duty cycle; nothing: not known.
  std::optional<Share> price() const;

 private:
  Nanos period() const;
  double fraction() const;  // share of time for which MONITOR may be on

  MonitorPaceOptions options_;
  std::mt19937_64 random_;
  std::optional<double> loss_;
  double strain_ = 1;  // factor on the window length, from halve()
  int cycles_ = 0;
  double rate_ = std::numeric_limits<double>::infinity();
  bool undecided_ = false;
};

}  // namespace heatsink::observe
