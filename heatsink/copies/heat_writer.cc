// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/heat_writer.h"

#include <string_view>

namespace heatsink::copies {

void HeatWriter::write(const detect::Summary& counted, const LoadWindow::Span& load,
                       std::span<const DurationHistogram* const> latencies) {
  heat::Moment moment = heat::moment_of(
      counted, [this](std::string_view name) { return shown_.show(name); }, shown_.redacts());
  moment.totals.commands = load.per_second(load.load.sent);
  moment.totals.server_commands = load.per_second(load.load.executed);
  const DurationHistogram::Counts now = DurationHistogram::counts(latencies);
  DurationHistogram::Counts since{};
  for (std::size_t i = 0; i < now.size(); ++i) since[i] = now[i] - before_[i];
  before_ = now;
  moment.totals.latency_p50 = DurationHistogram::quantile(since, 0.5);
  moment.totals.latency_p99 = DurationHistogram::quantile(since, 0.99);
  history_.add(moment);
}

}  // namespace heatsink::copies
