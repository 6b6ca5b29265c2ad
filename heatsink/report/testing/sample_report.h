// SPDX-License-Identifier: Apache-2.0
// For tests of this room and of admin: a report with one hot key, whose name is not text.
#pragma once

#include <string>

#include "heatsink/report/report.h"

namespace heatsink::report {

inline CopiesReport sample_copies() {
  return CopiesReport{.choice = CopiesReport::Choice{3, 131'072, "clock"},
                      .saved = 0.625,
                      .fill_cost = 1.5,
                      .fill_cost_spread = 0.25,
                      .invalidation_cost = 0.5,
                      .read_cpu = std::chrono::microseconds(20),
                      .proxy_read_cpu = std::chrono::nanoseconds(200),
                      .proxy_fill_cpu = std::chrono::microseconds(15),
                      .prices = CopiesReport::Prices{.server = {1.5, true},
                                                     .keeper = {0.75, true},
                                                     .worker = {1, false},
                                                     .fill_wait = std::chrono::microseconds(180)},
                      .refused = {1200, 30, 4, 5},
                      .entries_max = 65'536,
                      .bytes_max = mebibytes(64),
                      .curve = {{4096, 0.5}, {65'536, 0.625}, {262'144, 0.63}},
                      .top = {{.name = std::string("\x1b[2J\0", 5),
                               .name_truncated = true,
                               .db = 3,
                               .commands = {"GET", "STRLEN"},
                               .hits = 500.5,
                               .hits_error = 30,
                               .fills = 2,
                               .invalidations = 1,
                               .saved = 400,
                               .bytes = Bytes{321}}}};
}

inline KeyReport sample_key_report(TimePoint at) {
  KeyReport key;
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
  key.verdict.since = at - Millis(41'500);
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
  key.kept_by = 40;
  return key;
}

inline Report sample_report() {
  Report report;
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
  report.keys = {sample_key_report(report.at)};
  report.copies = sample_copies();
  return report;
}

// Keys in database 9 have no known value.
inline KeyInspection sample_inspection(const std::string& name, std::uint32_t db) {
  KeyInspection told;
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
  told.events = std::vector<Event>(2);
  return told;
}

}  // namespace heatsink::report
