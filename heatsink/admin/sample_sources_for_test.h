// SPDX-License-Identifier: Apache-2.0
// What the tests of this room serve: one hot key with a name that is not text.
#pragma once

#include <string>

#include "heatsink/admin/metrics_text.h"
#include "heatsink/admin/routes.h"
#include "heatsink/report/report.h"

namespace heatsink::admin {

inline report::Report sample_report() {
  report::Report report;
  report.at = TimePoint(std::chrono::seconds(1000));
  report.window = std::chrono::seconds(10);
  report.uptime = Millis(61'500);
  report.upstream = "127.0.0.1:6379";
  report.upstream_up = true;
  report.coherence = "up";
  report.requests_rate = 42110;
  report.hit_ratio = 0.75;
  report.hot = 3000;
  report.warm = 500;
  report.rules = 2;
  report.workers = 4;
  report.hot_means = "at least 3000/s (detection.hot-qps)";
  report.quiet = "no key reaches 3000/s (detection.hot-qps)";
  report.hot_keys = 1;
  report.cached_bytes = 64;
  report::KeyReport key;
  key.verdict.count.key = std::string("user:\0\xff", 7);
  key.verdict.count.db = 3;
  key.verdict.count.reads = 40;
  key.verdict.count.writes = 2;
  key.verdict.count.hits = 30;
  key.verdict.count.bytes = 4200;
  key.verdict.count.commands = {{"GET", 39, 41}};
  key.verdict.count.clients = {{"10.0.0.7", 30, 30}, {"\x1b", 1, 2}};
  key.verdict.measure.window = std::chrono::seconds(1);
  key.verdict.rule = "user:*";
  key.verdict.temperature = detect::Temperature::kHot;
  key.verdict.rate = 3412;
  key.verdict.rate_low = 3400.5;
  key.verdict.rate_high = 3412;
  key.verdict.share = 0.081;
  key.verdict.since = report.at - Millis(41'500);
  key.verdict.reason = "3412/s >= hot-qps 3000";
  key.cached = true;
  key.level = "session";
  key.max_staleness = Millis(300);
  key.reply_bytes = Bytes{71};
  key.limit = "5/s per key; over it: reject";
  key.limited_rate = 12.5;
  key.warmed = true;
  key.coalesce = Millis(2);
  key.stale_while_error = std::chrono::seconds(30);
  report.keys = {key};
  return report;
}

inline constexpr MetricRow kSampleRow{"heatsink_hits_total", MetricKind::kCounter,
                                      "Reads answered locally."};

// Of a key in database 9 nothing can be told.
inline report::KeyInspection sample_inspection(const std::string& name, std::uint32_t db) {
  report::KeyInspection told;
  told.problem = "the keeper does not answer";
  if (db == 9) return told;
  told.report = sample_report();
  told.report.keys[0].verdict.count.key = name;
  told.report.keys[0].verdict.count.db = db;
  told.type = "hash";
  told.encoding = "listpack";
  told.value_bytes = Bytes{120};
  told.memory_bytes = Bytes{184};
  told.ttl = Millis(1500);
  told.problem = "the server says: NOPERM";
  told.events = std::vector<report::Event>(2);
  return told;
}

inline Sources sample_sources() {
  return {sample_report,
          [] {
            return metrics_text({{&kSampleRow, 7}});
          },
          [] { return std::vector<report::Event>(3); },
          [](const std::string& name, Nanos window) -> Result<std::string> {
            if (name != "checkout") return Error{ErrorCode::kNotFound, "no such statistic"};
            return "{\"window\":" + std::to_string(window.count()) + "}\n";
          },
          [](const report::WarmOrder& order) {
            report::WarmReport report;
            for (const report::WarmKey& key : order.keys)
              report.keys.push_back({key, report::WarmOutcome::kLoaded, "", {}});
            return report;
          },
          [](std::uint64_t search) {
            report::WarmReport report;
            if (search == 7) report.searches.emplace_back().id = search;
            if (search > 7) report.problem = "there is no such search";
            return report;
          },
          sample_inspection,
          [] { return Status(Unit{}); }};
}

}  // namespace heatsink::admin
