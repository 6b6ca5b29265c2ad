// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/offload_meter.h"

#include <algorithm>

namespace heatsink::copies {

// Since the start.
CommandLoad OffloadMeter::load() const {
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

ServerEffort OffloadMeter::effort() const {
  const CommandLoad all = load();
  ServerEffort effort{.sent = all.sent,
                      .executed = all.executed,
                      .writes = shared_.own_writes.load(std::memory_order_relaxed),
                      .fills = counters_.read(Count::kFills),
                      .ends = counters_.read(Count::kInvalidations)};
  for (const KeeperListener* const worker : workers_) {
    effort.client_reads += worker->counters().read(Count::kClientReads);
    effort.client_turns += worker->counters().read(Count::kClientTurns);
    effort.writes += worker->counters().read(Count::kUpstreamWrites);
  }
  return effort;
}

void OffloadMeter::answered(cache::ProofIndex server, const redis::ServerUse& use, TimePoint now) {
  server_cpu_.answered(server, use, effort(), now, shared_.options().window);
}

void OffloadMeter::note(TimePoint now) {
  const Nanos window = shared_.options().window;
  const CommandLoad total = load();
  loads_.note(now, total, window);
  shared_.key_loads.move(now, window);
  counters_.add(Count::kOwnCommands, total.own - counters_.read(Count::kOwnCommands));
}

LoadWindow::Span OffloadMeter::of_window(TimePoint now) {
  note(now);
  return loads_.over(now, load(), shared_.options().window);
}

void OffloadMeter::add_to(report::Report& report, TimePoint now) {
  const LoadWindow::Span span = of_window(now);
  report.commands_rate = span.per_second(span.load.sent);
  report.server_commands_rate = span.per_second(span.load.executed);
  report.own_commands_rate = span.per_second(span.load.own);
  report.offload = span.load.taken_off();
  const Nanos window = shared_.options().window;
  report.server_cpu_unknown = server_cpu_.problem(now, window);
  if (const auto cpu = server_cpu(now))
    report.server_cpu = {
        .cores = cpu->cores, .spared_cores = cpu->spared_cores, .offload = cpu->taken_off()};
}

}  // namespace heatsink::copies
