// SPDX-License-Identifier: Apache-2.0
// The keeper's measure of the load that is taken off the servers (load_window.h).
#include <vector>

#include "heatsink/copies/copy_keeper.h"

namespace heatsink::copies {

// Since the start. The counters of other threads may be a moment old.
CommandLoad CopyKeeper::load() const {
  CommandLoad load;
  load.own = shared_.own_commands.load(std::memory_order_relaxed);
  if (shared_.shared_limits) load.own += shared_.shared_limits->commands();
  load.executed = load.own;
  std::uint64_t unserved = 0;
  for (const KeeperListener* const worker : workers_) {
    const Counters& counters = worker->counters();
    unserved += counters.read(Count::kUnservedCommands);
    load.executed += counters.read(Count::kServerCommands);
    load.sent += counters.read(Count::kCommands);
  }
  load.sent -= std::min(load.sent, unserved);
  return load;
}

ServerEffort CopyKeeper::effort() const {
  const CommandLoad all = load();
  ServerEffort effort{.sent = all.sent,
                      .executed = all.executed,
                      .writes = shared_.own_writes.load(std::memory_order_relaxed),
                      .fills = counters_.read(Count::kFills),
                      .ends = counters_.read(Count::kInvalidations)};
  for (const KeeperListener* const worker : workers_) {
    effort.client_reads += worker->counters().read(Count::kClientReads);
    effort.writes += worker->counters().read(Count::kUpstreamWrites);
  }
  return effort;
}

void CopyKeeper::server_use(cache::ProofIndex server, const redis::ServerUse& use) {
  server_cpu_.answered(server, use, effort(), loop_.clock(), shared_.options().window);
  if (chooser_) chooser_->set_server_scale(server_cpu_.scale());
}

void CopyKeeper::note_load() {
  const TimePoint now = loop_.clock();
  const Nanos window = shared_.options().window;
  const CommandLoad total = load();
  loads_.note(now, total, window);
  shared_.key_loads.move(now, window);
  counters_.add(Count::kOwnCommands, total.own - counters_.read(Count::kOwnCommands));
}

void CopyKeeper::note_heat() {
  std::vector<const DurationHistogram*> latencies;
  for (const KeeperListener* const worker : workers_)
    if (const DurationHistogram* const waits = worker->client_latency()) latencies.push_back(waits);
  heat_writer_.write(merged_.front(), load_of_window(), latencies);
}

LoadWindow::Span CopyKeeper::load_of_window() {
  note_load();
  return loads_.over(loop_.clock(), load(), shared_.options().window);
}

void CopyKeeper::add_load(report::Report& report) {
  const LoadWindow::Span span = load_of_window();
  report.commands_rate = span.per_second(span.load.sent);
  report.server_commands_rate = span.per_second(span.load.executed);
  report.own_commands_rate = span.per_second(span.load.own);
  report.offload = span.load.taken_off();
  const TimePoint now = loop_.clock();
  const Nanos window = shared_.options().window;
  report.server_cpu_unknown = server_cpu_.problem(now, window);
  if (const auto cpu = server_cpu_.figure(now, window))
    report.server_cpu = {
        .cores = cpu->cores, .spared_cores = cpu->spared_cores, .offload = cpu->taken_off()};
}

}  // namespace heatsink::copies
