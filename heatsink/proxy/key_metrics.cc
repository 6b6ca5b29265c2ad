// SPDX-License-Identifier: Apache-2.0
#include "heatsink/proxy/key_metrics.h"

#include <algorithm>
#include <string>

#include "heatsink/base/printable.h"
#include "heatsink/report/report.h"

namespace heatsink::proxy {
namespace {

constexpr MetricRow kHitsRow{
    "heatsink_key_local_hits_per_second", MetricKind::kGauge,
    "Reads of a hot key answered from a local copy, per second over the window of the key's rule. "
    "Only the busiest hot keys have this metric (admin.metrics-keys).",
    "key, db"};
constexpr MetricRow kReadsRow{
    "heatsink_key_reads_per_second", MetricKind::kGauge,
    "All reads of a hot key, per second over the window of the key's rule.", "key, db"};
constexpr MetricRow kWritesRow{
    "heatsink_key_writes_per_second", MetricKind::kGauge,
    "All writes of a hot key, per second over the window of the key's rule.", "key, db"};
constexpr MetricRow kServerRow{
    "heatsink_key_server_commands_per_second", MetricKind::kGauge,
    "Commands per second that servers get because of a hot key, fills included.", "key, db"};

// What was spared is counted apart from the accesses, so it can run ahead of them.
double server_commands(const report::KeyReport& key) {
  const detect::KeyCount& count = key.verdict.count;
  const auto accesses = static_cast<double>(count.reads + count.writes);
  return std::max(0.0, accesses - static_cast<double>(key.spared));
}

bool exported(const detect::Verdict& verdict) {
  const bool hot = verdict.temperature == detect::Temperature::kHot ||
                   verdict.temperature == detect::Temperature::kWriteHot;
  return hot && !verdict.count.key_truncated && verdict.count.key.size() <= kPrintableBytesMax;
}

}  // namespace

MetricRows key_metric_rows() { return {&kHitsRow, &kReadsRow, &kWritesRow, &kServerRow}; }

void append_key_samples(MetricSamples& samples, const report::Report& report,
                        std::size_t keys_max) {
  std::size_t keys = 0;
  for (const report::KeyReport& key : report.keys) {
    const detect::KeyCount& count = key.verdict.count;
    const double seconds = key.counted_seconds();
    if (!exported(key.verdict) || seconds <= 0) continue;
    if (keys++ == keys_max) return;
    const MetricLabels labels{{"key", count.key}, {"db", std::to_string(count.db)}};
    samples.push_back({&kHitsRow, static_cast<double>(count.hits) / seconds, labels});
    samples.push_back({&kReadsRow, static_cast<double>(count.reads) / seconds, labels});
    samples.push_back({&kWritesRow, static_cast<double>(count.writes) / seconds, labels});
    samples.push_back({&kServerRow, server_commands(key) / seconds, labels});
  }
}

}  // namespace heatsink::proxy
