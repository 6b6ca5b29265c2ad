// SPDX-License-Identifier: Apache-2.0
#include "heatsink/client/metrics.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

namespace heatsink::client {
namespace {

constexpr MetricRow counter(std::string_view name, std::string_view help) {
  return {name, MetricKind::kCounter, help};
}

constexpr std::array kCounts = {
    CountRow{&Counts::reads, counter("heatsink_reads_total", "Reads, including local hits.")},
    CountRow{&Counts::writes, counter("heatsink_writes_total", "Writes and deletions.")},
    CountRow{&Counts::hits,
             counter("heatsink_local_hits_total", "Reads answered from a local copy.")},
    CountRow{&Counts::promotions, counter("heatsink_promotions_total", "Keys that became hot.")},
    CountRow{&Counts::demotions,
             counter("heatsink_demotions_total", "Keys that stopped being hot.")},
    CountRow{&Counts::loads, counter("heatsink_fills_total", "Fills started by a read.")},
    CountRow{&Counts::load_failures,
             counter("heatsink_fills_failed_total",
                     "Fills that ended without a value, because the load failed.")},
    CountRow{&Counts::waits,
             counter("heatsink_joined_fills_total",
                     "Reads that waited for a fill that another read had started.")},
    CountRow{&Counts::misses, counter("heatsink_local_misses_total",
                                      "Reads of a key with copies that none of them answered.")},
    CountRow{&Counts::source_loads,
             counter("heatsink_source_loads_total",
                     "Loads of keys with copies: for reads, ahead of them, and renewals.")},
    CountRow{&Counts::refusals, counter("heatsink_fills_refused_total",
                                        "Reads that got an error because too many waited "
                                        "for the same fill, or because it took too long.")},
    CountRow{&Counts::refreshes,
             counter("heatsink_refreshes_total", "Local copies renewed in the background.")},
    CountRow{&Counts::refresh_failures,
             counter("heatsink_refreshes_failed_total", "Renewals that ended without a value.")},
    CountRow{&Counts::refresh_drops, counter("heatsink_refreshes_given_up_total",
                                             "Keys whose renewals failed too often in a row.")},
    CountRow{&Counts::stale_served,
             counter("heatsink_stale_served_total",
                     "Reads answered from an expired copy because its load failed.")},
    CountRow{&Counts::no_room,
             counter("heatsink_copies_refused_total",
                     "Values not kept for lack of room (cache.maximum-bytes, cache.maximum-nil).")},
    CountRow{&Counts::invalidations, counter("heatsink_invalidations_total",
                                             "Key names that the server reported as changed.")},
    CountRow{&Counts::flushes, counter("heatsink_flushes_total",
                                       "How often all local copies were dropped at once. "
                                       "The causes are FLUSHALL and FLUSHDB, changed rights, "
                                       "or the loss of the connection that tracks keys.")},
    CountRow{&Counts::own_commands,
             counter("heatsink_own_commands_total",
                     "Commands of the library itself: to track keys (two for each fill), "
                     "to prove copies, for the fleet. Only at level key.")},
};

constexpr MetricRow kCoherence{
    "heatsink_coherence_up", MetricKind::kGauge,
    "1 while the server proves that it sends invalidations, so that copies may be served; else 0. "
    "Only at level key."};

struct GaugeRow {
  double (*value)(const Stats& stats);
  MetricRow metric;
};

constexpr GaugeRow gauge(double (*value)(const Stats& stats), std::string_view name,
                         std::string_view help) {
  return {value, {name, MetricKind::kGauge, help}};
}

constexpr std::array kGauges = {
    gauge([](const Stats& s) { return static_cast<double>(s.hot_keys); }, "heatsink_hot_keys",
          "Keys that are hot now."),
    gauge([](const Stats& s) { return static_cast<double>(s.copies); }, "heatsink_cache_entries",
          "Local copies held now."),
    gauge([](const Stats& s) { return static_cast<double>(s.copies_bytes); },
          "heatsink_cache_bytes", "Bytes of the local copies held now."),
    gauge([](const Stats& s) { return s.reads_per_second; }, "heatsink_reads_per_second",
          "Reads per second over the window."),
    gauge([](const Stats& s) { return s.writes_per_second; }, "heatsink_writes_per_second",
          "Writes per second over the window."),
    gauge([](const Stats& s) { return s.hit_ratio; }, "heatsink_hit_ratio",
          "Local hits as a share of all reads over the window, 0 to 1."),
    gauge([](const Stats& s) { return s.hot_share; }, "heatsink_hot_share",
          "Accesses of hot keys as a share of all accesses over the window, 0 to 1."),
    gauge([](const Stats& s) { return s.distinct_keys; }, "heatsink_distinct_keys",
          "Different keys accessed within the window. The standard error is 3.3 %."),
};

void append(std::string& text, const MetricRow& row, double value) {
  const std::string_view type = row.kind == MetricKind::kCounter ? "counter" : "gauge";
  fmt::format_to(std::back_inserter(text), "# HELP {0} {1}\n# TYPE {0} {2}\n{0} {3}\n", row.name,
                 row.help, type, value);
}

}  // namespace

std::span<const CountRow> count_rows() { return kCounts; }

MetricRows metric_rows() {
  MetricRows rows{&kCoherence};
  for (const GaugeRow& row : kGauges) rows.push_back(&row.metric);
  for (const CountRow& row : kCounts) rows.push_back(&row.metric);
  return rows;
}

std::string metrics_text(const Stats& stats) {
  std::string text;
  for (const GaugeRow& row : kGauges) append(text, row.metric, row.value(stats));
  for (const CountRow& row : kCounts)
    append(text, row.metric, static_cast<double>(stats.*row.count));
  if (stats.level == "key") append(text, kCoherence, stats.server_problem.empty() ? 1 : 0);
  return text;
}

}  // namespace heatsink::client
