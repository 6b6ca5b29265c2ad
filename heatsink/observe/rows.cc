// SPDX-License-Identifier: Apache-2.0
#include "heatsink/observe/rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "heatsink/detect/detect.h"

namespace heatsink::observe {
namespace {

std::uint64_t whole(double value) {
  constexpr double kMax = 1e18;
  return value > 0 ? static_cast<std::uint64_t>(std::min(std::round(value), kMax)) : 0;
}

void scale(std::vector<detect::Tally>& tallies, double factor) {
  for (detect::Tally& tally : tallies) {
    tally.low = whole(static_cast<double>(tally.low) * factor);
    tally.high = whole(static_cast<double>(tally.high) * factor);
  }
}

// Scales the counts of the sample to the whole window.
void scale(detect::KeyCount& count, const RateBounds& rate, double seconds) {
  const double seen = static_cast<double>(count.reads + count.writes);
  const double factor = seen > 0 ? rate.rate * seconds / seen : 0;
  const std::uint64_t all = whole(rate.rate * seconds);
  count.writes = std::min(whole(static_cast<double>(count.writes) * factor), all);
  count.reads = seen > 0 ? all - count.writes : 0;
  count.bytes = whole(static_cast<double>(count.bytes) * factor);
  count.low = whole(rate.low * seconds);
  count.high = whole(rate.high * seconds);
  scale(count.commands, factor);
  scale(count.clients, factor);
}

// Uses the lower bound: hot only if proven.
detect::Temperature temperature_of(const KeyRow& row, double requests_rate) {
  if (row.is_hot) return *row.is_hot ? detect::Temperature::kHot : detect::Temperature::kWarm;
  const double by_rate = requests_rate > 0 ? row.rate.low / requests_rate : 0;
  const double share = row.share_low.value_or(row.share.value_or(by_rate));
  const auto reaches = [&](double part_of_hot) {
    return share >= part_of_hot * detect::kAutomaticHotPart &&
           (row.dimension == detect::Dimension::kBytes ||
            row.rate.low >= part_of_hot * detect::kAutomaticHotRate);
  };
  if (!reaches(detect::kAutomaticWarm)) return detect::Temperature::kCold;
  if (!reaches(1)) return detect::Temperature::kWarm;
  return row.count.writes > row.count.reads ? detect::Temperature::kWriteHot
                                            : detect::Temperature::kHot;
}

report::KeyReport report_of(KeyRow&& row, const Totals& totals, Nanos window, TimePoint now) {
  report::KeyReport out;
  detect::Verdict& verdict = out.verdict;
  verdict.temperature = temperature_of(row, totals.requests_rate);
  verdict.measure = {window, row.dimension};
  verdict.rate = row.rate.rate;
  verdict.rate_low = row.rate.low;
  verdict.rate_high = row.rate.high;
  verdict.share =
      totals.requests_rate > 0 ? std::min(row.rate.rate / totals.requests_rate, 1.0) : 0;
  verdict.since = now;
  verdict.reason = row.reason.empty()
                       ? fmt::format("{:.1f} % of this server's accesses", 100 * verdict.share)
                       : std::move(row.reason);
  if (row.share) verdict.share = *row.share;
  scale(row.count, row.rate, std::chrono::duration<double>(window).count());
  verdict.count = std::move(row.count);
  return out;
}

}  // namespace

report::Report make_report(std::vector<KeyRow> rows, const Totals& totals, std::string upstream,
                           Nanos window, Nanos watched, TimePoint now) {
  std::ranges::stable_sort(rows, std::ranges::greater{},
                           [](const KeyRow& row) { return row.rate.rate; });
  if (rows.size() > kRowsMax) rows.resize(kRowsMax);
  report::Report report;
  report.at = now;
  report.window = window;
  report.uptime = watched;
  report.upstream = std::move(upstream);
  report.upstream_up = true;
  report.coherence = "no local copies: the server is observed from outside";
  report.requests_rate = totals.requests_rate;
  report.reads_rate = totals.reads_rate;
  report.writes_rate = totals.writes_rate;
  report.misses_rate = totals.reads_rate;
  report.clients = totals.clients;
  report.sampled = true;
  report.hot =
      std::max(detect::kAutomaticHotPart * totals.requests_rate, detect::kAutomaticHotRate);
  report.warm = detect::kAutomaticWarm * report.hot;
  report.hot_means = "proven to have at least " + detect::automatic_words();
  report.quiet = "no key is proven to have " + detect::automatic_words();
  for (KeyRow& row : rows) report.keys.push_back(report_of(std::move(row), totals, window, now));
  for (const report::KeyReport& key : report.keys) {
    report.hot_keys += key.verdict.temperature == detect::Temperature::kHot ? 1 : 0;
    report.write_hot_keys += key.verdict.temperature == detect::Temperature::kWriteHot ? 1 : 0;
  }
  return report;
}

}  // namespace heatsink::observe
