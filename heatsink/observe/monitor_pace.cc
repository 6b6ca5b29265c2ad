// SPDX-License-Identifier: Apache-2.0
#include "heatsink/observe/monitor_pace.h"

#include <algorithm>

namespace heatsink::observe {
namespace {

constexpr double kCommandsMin = 500;  // a stretch with fewer is too short to compare
constexpr double kSecondsMin = 0.004;
constexpr double kLatestWindow = 0.3;  // weight of the latest window in the mean
constexpr double kJitterMin = 0.25, kJitterMax = 3;
constexpr double kStrainMin = 1.0 / 64;

Nanos scaled(Nanos duration, double factor) {
  return std::chrono::duration_cast<Nanos>(
      std::chrono::duration<double, std::nano>(static_cast<double>(duration.count()) * factor));
}

}  // namespace

MonitorPace::MonitorPace(const MonitorPaceOptions& options)
    : options_(options), random_(options.seed) {}

Nanos MonitorPace::period() const {
  const Nanos whole = options_.on + options_.off;
  const int short_cycles = undecided_ ? kSpreadCycles : kShortCycles;
  return cycles_ < short_cycles ? whole / kShorter : whole;
}

double MonitorPace::fraction() const {
  const double most = undecided_ ? kUndecidedMost
                                 : static_cast<double>(options_.on.count()) /
                                       static_cast<double>((options_.on + options_.off).count());
  const double loss = loss_.value_or(std::min(kAssumedLoss, rate_ * kSecondsPerCommandMax));
  return std::min(most, loss > 0 ? options_.price_max.part / loss : most);
}

Nanos MonitorPace::next_on() const {
  return std::clamp(scaled(period(), fraction() * strain_), kOnMin, options_.on);
}

Nanos MonitorPace::next_off(Nanos was_on) {
  std::exponential_distribution<double> jitter(1.0);
  const Nanos planned = period() - std::min(next_on(), period() / 2);
  const Nanos mean = std::max(planned, scaled(was_on, 1 / fraction() - 1));
  ++cycles_;
  return scaled(mean, std::clamp(jitter(random_), kJitterMin, kJitterMax));
}

// The cost of MONITOR is the CPU time spent with it minus what the same commands cost without it.
// On a busy server that is lost throughput; on an idle one it takes spare time.
void MonitorPace::learn(const ServerWork& with, const ServerWork& without) {
  const bool known = with.commands >= kCommandsMin && without.commands >= kCommandsMin &&
                     with.seconds >= kSecondsMin && without.seconds >= kSecondsMin;
  if (!known) return;
  const double due = with.commands * without.cpu_seconds / without.commands;
  const double loss = std::clamp((with.cpu_seconds - due) / with.seconds, 0.0, 1.0);
  loss_ = loss_ ? *loss_ + kLatestWindow * (loss - *loss_) : loss;
}

void MonitorPace::halve() { strain_ = std::max(strain_ / 2, kStrainMin); }

std::optional<Share> MonitorPace::price() const {
  if (!loss_) return std::nullopt;
  const double duty =
      static_cast<double>(next_on().count()) / static_cast<double>(period().count());
  return Share{*loss_ * duty};
}

}  // namespace heatsink::observe
