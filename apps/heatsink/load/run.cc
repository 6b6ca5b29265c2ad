// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/load/run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <utility>
#include <vector>

#include "apps/heatsink/load/report.h"
#include "apps/heatsink/process/end_signals.h"
#include "apps/heatsink/process/exit_code.h"
#include "heatsink/base/printable.h"

namespace heatsink::app {
namespace {

using Workers = std::vector<std::unique_ptr<LoadWorker>>;

class LoadSession {
 public:
  LoadSession(const LoadOptions& options, const LoadTarget& target, const LoadRun& run)
      : options_(options), run_for_(run.run_for), json_(run.json), quiet_(run.quiet || run.json) {
    for (std::size_t i = 0; i < options.threads; ++i) {
      workers_.push_back(std::make_unique<LoadWorker>(options, target, i));
    }
  }

  int run() {
    if (options_.preload && !preload()) return kFailed;
    if (ended_) return kDone;
    for (auto& worker : workers_) worker->begin_load();
    const TimePoint started = BootClock::now();
    load(started);
    const Nanos elapsed = BootClock::now() - started;
    std::cout << (json_ ? tally_json(total_, elapsed) : tally_text(total_, elapsed)) << std::flush;
    return total_.operations() > 0 ? kDone : kFailed;
  }

 private:
  // False: not finished before the end of `run_for`, or no write was accepted.
  bool preload() {
    const TimePoint started = BootClock::now();
    TimePoint tell_at = started + std::chrono::seconds(1);
    Tally tally;
    while (!preload_done() && !ended_) {
      const TimePoint now = BootClock::now();
      if (now >= tell_at) {
        tell_at += std::chrono::seconds(1);
        tally.merge(take());
        tell_preload(tally);
      }
      if (now >= end_of(started)) break;
      ended_ = signals_.wait_until(now + Millis(20));
    }
    tally.merge(take());
    tell_preload(tally);
    if (ended_ || (preload_done() && tally.writes > 0)) return true;
    std::cerr << "heatsink load: cannot write the keys; " << errors_text(tally);
    return false;
  }

  void load(TimePoint started) {
    const TimePoint end = end_of(started);
    TimePoint told = started;
    for (TimePoint next = started + std::chrono::seconds(1); !ended_ && told < end;
         next += std::chrono::seconds(1)) {
      ended_ = signals_.wait_until(std::min(next, end));
      const TimePoint now = BootClock::now();
      const Tally tally = take();
      if (!quiet_) std::cout << tally_line(tally, now - started, now - told) << std::flush;
      if (!std::cout) ended_ = true;  // the reader has gone
      total_.merge(tally);
      told = now;
    }
  }

  TimePoint end_of(TimePoint started) const {
    return run_for_ == Nanos(0) ? TimePoint::max() : started + run_for_;
  }
  bool preload_done() const {
    return std::ranges::all_of(workers_, [](const auto& worker) { return worker->preload_done(); });
  }

  Tally take() {
    Tally all;
    for (auto& worker : workers_) all.merge(worker->take());
    return all;
  }

  void tell_preload(const Tally& tally) const {
    if (quiet_) return;
    std::uint64_t loaded = 0;
    for (const auto& worker : workers_) loaded += worker->preloaded();
    std::cout << fmt::format("preload {} of {} keys", loaded, options_.keys);
    if (!tally.errors.empty()) {
      std::cout << fmt::format(", {} errors: {}", tally.error_count(),
                               printable(tally.errors.begin()->first));
    }
    std::cout << std::endl;
  }

  LoadOptions options_;
  Nanos run_for_;
  bool json_;
  bool quiet_;
  EndSignals signals_;  // declared before the workers, whose threads must have the signals blocked
  Workers workers_;
  Tally total_;
  bool ended_ = false;
};

}  // namespace

int run_load_session(const LoadOptions& options, const net::RedisUrl& url, const LoadRun& run) {
  auto addresses = net::resolve_server(url);
  if (!addresses) {
    std::cerr << "heatsink load: " << one_line(addresses.error().message) << "\n";
    return kFailed;
  }
  const LoadTarget target{url, std::move(addresses).value()};
  return LoadSession(options, target, run).run();
}

}  // namespace heatsink::app
