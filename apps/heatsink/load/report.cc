// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/load/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "heatsink/base/printable.h"
#include "heatsink/tui/number.h"

namespace heatsink::app {
namespace {

double per_second(std::uint64_t count, Nanos span) {
  const double seconds = std::chrono::duration<double>(span).count();
  return seconds > 0 ? static_cast<double>(count) / seconds : 0;
}

double in_millis(Nanos latency) {
  return std::chrono::duration<double, std::milli>(latency).count();
}

std::string millis(Nanos latency) { return fmt::format("{:.2f} ms", in_millis(latency)); }

}  // namespace

std::string tally_line(const Tally& tally, Nanos elapsed, Nanos span) {
  return fmt::format("{:>6}  {:>8}  writes {:>8}  p50 {:>9}  p99 {:>9}  errors {}\n",
                     tui::age_text(elapsed), tui::rate_text(per_second(tally.operations(), span)),
                     tui::rate_text(per_second(tally.writes, span)),
                     millis(tally.latency.quantile(0.5)), millis(tally.latency.quantile(0.99)),
                     tally.error_count());
}

std::string errors_text(const Tally& tally) {
  std::string out = fmt::format("errors: {}\n", tally.error_count());
  std::vector<std::pair<std::string, std::uint64_t>> errors(tally.errors.begin(),
                                                            tally.errors.end());
  std::ranges::stable_sort(errors, std::ranges::greater{},
                           &std::pair<std::string, std::uint64_t>::second);
  for (const auto& [text, count] : errors)
    out += fmt::format("{:>10}  {}\n", count, printable(text));
  return out;
}

std::string tally_text(const Tally& tally, Nanos elapsed) {
  std::string out = fmt::format(
      "{} operations in {} ({}): {} reads, {} writes\nlatency: p50 {}, p99 {}, max {}\n",
      tally.operations(), tui::age_text(elapsed),
      tui::rate_text(per_second(tally.operations(), elapsed)), tally.reads, tally.writes,
      millis(tally.latency.quantile(0.5)), millis(tally.latency.quantile(0.99)),
      millis(tally.latency.max()));
  if (tally.nils > 0) out += fmt::format("reads of missing keys: {}\n", tally.nils);
  if (tally.given_up > 0) {
    out += fmt::format("not sent because the server was too slow for --rate: {}\n", tally.given_up);
  }
  return out + errors_text(tally);
}

std::string tally_json(const Tally& tally, Nanos elapsed) {
  return fmt::format(
      R"({{"operations":{},"seconds":{:.6f},"reads":{},"writes":{},"nils":{},"not_sent":{},)"
      R"("errors":{},"p50_ms":{:.3f},"p99_ms":{:.3f},"max_ms":{:.3f}}})"
      "\n",
      tally.operations(), std::chrono::duration<double>(elapsed).count(), tally.reads, tally.writes,
      tally.nils, tally.given_up, tally.error_count(), in_millis(tally.latency.quantile(0.5)),
      in_millis(tally.latency.quantile(0.99)), in_millis(tally.latency.max()));
}

}  // namespace heatsink::app
