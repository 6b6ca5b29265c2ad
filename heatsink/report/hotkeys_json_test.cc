// SPDX-License-Identifier: Apache-2.0
#include "heatsink/report/hotkeys_json.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <limits>

#include "heatsink/report/report.h"
#include "heatsink/report/testing/sample_report.h"

namespace heatsink::report {
namespace {

namespace json = boost::json;

const WallTime kWallAt = WallTime(std::chrono::seconds(1'795'262'400)) + Millis(123);

TEST(HotkeysJson, TimesAreUtcWithMilliseconds) {
  EXPECT_EQ(iso_time(kWallAt), "2026-11-21T12:00:00.123Z");
  EXPECT_EQ(iso_time(WallTime{}), "1970-01-01T00:00:00.000Z");
}

TEST(HotkeysJson, TemplatesAreListedWithTheRest) {
  Report report = sample_report();
  EXPECT_TRUE(json::parse(hotkeys_json(report, kWallAt)).at("templates").is_null());
  report.templates = TemplatesReport{{{.name = "user:*",
                                       .name_truncated = false,
                                       .db = 3,
                                       .rate = 14'000,
                                       .rate_low = 13'990,
                                       .rate_high = 14'010,
                                       .share = 0.25,
                                       .reads_rate = 12'000,
                                       .writes_rate = 2000,
                                       .hits_rate = 9000}},
                                     5,
                                     8};
  EXPECT_EQ(json::parse(hotkeys_json(report, kWallAt)).at("templates"), json::parse(R"({
    "rest_rate_low": 5, "rest_rate_high": 8, "list": [{"name": "user:*",
    "name_base64": "dXNlcjoq", "name_truncated": false, "db": 3, "rate": 14000, "rate_low": 13990,
    "rate_high": 14010, "share": 0.25, "reads_rate": 12000, "writes_rate": 2000,
    "hits_rate": 9000}]})"));
}

TEST(HotkeysJson, KeyHasItsEvidence) {
  const json::value parsed = json::parse(hotkeys_json(sample_report(), kWallAt));
  const json::value expected = json::parse(R"({
    "name": "user:\\x00\\xff", "name_base64": "dXNlcjoA/w==", "name_truncated": false, 
    "db": 3, "rule": "user:*", "dimension": "requests", "window_seconds": 1,
    "counted_seconds": 1,
    "rate": 3412, "rate_low": 3400.5, "rate_high": 3412, "share": 0.081, "fleet": null,
    "reads": 40, "writes": 2, "hits": 30, "misses": 10, "bytes": 4200,
    "hit_ratio": 0.75, "spared": 0, "offload": 0,
    "commands": [{"name": "GET", "low": 39, "high": 41}],
    "clients": [{"name": "10.0.0.7", "low": 30, "high": 30},
                {"name": "\\x1b", "low": 1, "high": 2}],
    "since": "2026-11-21T11:59:18.623Z", "age_seconds": 41.5,
    "verdict": "hot", "reason": "3412/s >= hot-qps 3000", "cached": true, "cache_note": "",
    "level": "session", "max_staleness_seconds": 0.3, "reply_bytes": 71,
    "limit": "5/s per key; over it: reject", "limited_rate": 12.5, "warmed": true,
    "coalesce_seconds": 0.002, "stale_while_error_seconds": 30,
    "kept_by_clients": 40})");
  EXPECT_EQ(parsed.at("keys").as_array().at(0), expected) << json::serialize(parsed);
}

TEST(HotkeysJson, AFleetAndItsEvidenceAreShown) {
  Report report = sample_report();
  report.fleet.emplace();
  report.fleet->name = "shop";
  report.fleet->instances = 20;
  report.fleet->problem = "OOM";
  report.keys[0].verdict.fleet = {
      .rate_low = 2000, .rate_high = 2010, .share = 0.5, .instances = 20};
  const json::value parsed = json::parse(hotkeys_json(report, WallTime()));
  EXPECT_EQ(parsed.at("fleet"), json::parse(R"({"name": "shop", "known": false, "instances": 20,
    "age_seconds": null, "merges": false, "problem": "OOM"})"));
  EXPECT_EQ(parsed.at("keys").as_array().at(0).at("fleet"),
            json::parse(R"({"rate": 2000, "rate_high": 2010, "share": 0.5, "instances": 20})"));
}

TEST(HotkeysJson, WhatClientsKeepIsListed) {
  Report report = sample_report();
  EXPECT_TRUE(json::parse(hotkeys_json(report, kWallAt)).at("near_caches").is_null());
  report.near_caches = NearReport{
      .clients = 50, .keeping = 41, .kept = 200, .names = 9, .list = {{"user:\xff", false, 40}}};
  EXPECT_EQ(json::parse(hotkeys_json(report, kWallAt)).at("near_caches"), json::parse(R"({
    "clients": 50, "keeping_clients": 41, "kept": 200, "names": 9, "list": [{
    "name": "user:\\xff", "name_base64": "dXNlcjr/", "name_truncated": false, "clients": 40}]})"));
}

TEST(HotkeysJson, NoBoundIsNull) {
  Report report = sample_report();
  report.keys[0].level = "ttl";
  report.keys[0].max_staleness.reset();
  report.keys[0].reply_bytes.reset();
  const json::value key = json::parse(hotkeys_json(report, kWallAt)).at("keys").at(0);
  EXPECT_EQ(key.at("level").as_string(), "ttl");
  EXPECT_TRUE(key.at("max_staleness_seconds").is_null());
  EXPECT_TRUE(key.at("reply_bytes").is_null());
}

TEST(HotkeysJson, CopiesHaveTheirReasons) {
  const json::value parsed = json::parse(hotkeys_json(sample_report(), kWallAt));
  json::value expected = json::parse(R"({
    "choice": {"reads": 3, "history": 131072, "order": "clock"}, "saved": 0.625,
    "fill_cost": 1.5, "fill_cost_spread": 0.25, "invalidation_cost": 0.5,
    "read_cpu_seconds": 0.00002,
    "proxy_read_cpu_seconds": 0.0000002, "proxy_fill_cpu_seconds": 0.000015,
    "prices": {"server": {"scale": 1.5, "measured": true},
               "keeper": {"scale": 0.75, "measured": true},
               "worker": {"scale": 1, "measured": false}, "fill_wait_seconds": 0.00018},
    "refused": {"seldom_read": 1200, "written": 30, "too_big": 4, "no_room": 5},
    "entries_max": 65536, "bytes_max": 67108864,
    "curve": [{"entries": 4096, "saved": 0.5}, {"entries": 65536, "saved": 0.625},
              {"entries": 262144, "saved": 0.63}],
    "advice": "ADVICE",
    "top": [{"name": "\\x1b[2J\\x00", "name_base64": "G1sySgA=", "name_truncated": true, "db": 3,
             "commands": ["GET", "STRLEN"], "hits_rate": 500.5, "hits_rate_error": 30,
             "fills_rate": 2, "invalidations_rate": 1, "saved_rate": 400, "server_cpu": 0.008,
             "bytes": 321}]})");
  expected.at("advice") = budget_advice(*sample_report().copies);
  EXPECT_EQ(parsed.at("copies"), expected) << json::serialize(parsed);
}

TEST(HotkeysJson, WithoutAChoiceOfCopiesThereIsNull) {
  Report report = sample_report();
  report.copies->choice.reset();
  EXPECT_TRUE(json::parse(hotkeys_json(report, kWallAt)).at("copies").at("choice").is_null());
  report.copies->read_cpu.reset();
  const json::value unknown = json::parse(hotkeys_json(report, kWallAt)).at("copies");
  EXPECT_TRUE(unknown.at("read_cpu_seconds").is_null());
  EXPECT_TRUE(unknown.at("top").at(0).at("server_cpu").is_null());
  report.copies.reset();
  EXPECT_TRUE(json::parse(hotkeys_json(report, kWallAt)).at("copies").is_null());
}

TEST(HotkeysJson, NodeHasItsTotals) {
  Report report = sample_report();
  report.server_cpu = {.cores = 0.25, .spared_cores = 0.5, .offload = 0.625};
  report.server_cpu_unknown = "";
  const json::value parsed = json::parse(hotkeys_json(report, kWallAt));
  const json::value expected = json::parse(R"({
    "upstream": "127.0.0.1:6379", "upstream_up": true, "coherence": "up",
    "requests_rate": 42110, "reads_rate": 0, "writes_rate": 0, "hits_rate": 0, "misses_rate": 0,
    "hit_ratio": 0.75, "offload": 0, "commands_rate": 0, "server_commands_rate": 0,
    "own_commands_rate": 0, "cpu_cores": 0.25, "cpu_spared_cores": 0.5, "cpu_offload": 0.625,
    "cpu_unknown": "", "dimension": "requests", "hot": 3000, "warm": 500,
    "absent_max": null, "rules": 2, "workers": 4,
    "redacted": false, "sampled": false, "clients": 0, "hot_keys": 1,
    "write_hot_keys": 0, "cached_entries": 0, "cached_bytes": 64, "stale_confirmed": 0})");
  EXPECT_EQ(parsed.at("node"), expected) << json::serialize(parsed);
  EXPECT_EQ(parsed.at("at").as_string(), "2026-11-21T12:00:00.123Z");
  EXPECT_EQ(parsed.at("window_seconds"), 10);
  EXPECT_EQ(parsed.at("uptime_seconds"), 61.5);
}

TEST(HotkeysJson, TellsWhatAKeyThatIsNotListedCanHave) {
  Report report = sample_report();
  report.absent_max = 420;
  const json::value node = json::parse(hotkeys_json(report, kWallAt)).at("node");
  EXPECT_EQ(node.at("absent_max"), 420);
}

TEST(HotkeysJson, HeadlineSaysWhatThereIs) {
  Report report = sample_report();
  const auto parsed = [&] { return json::parse(hotkeys_json(report, kWallAt)); };
  EXPECT_EQ(parsed().at("headline").as_string(),
            "1 key is hot; hot means at least 3000/s (detection.hot-qps)");
  EXPECT_EQ(parsed().at("hot_means").as_string(), "at least 3000/s (detection.hot-qps)");
  report.hot_means.clear();
  EXPECT_EQ(parsed().at("headline").as_string(), "1 key is hot");
  EXPECT_EQ(parsed().at("nothing_hot"), false);
  report.write_hot_keys = 2;
  EXPECT_EQ(parsed().at("headline").as_string(), "1 key is hot, 2 keys are write-hot");
  report.hot_keys = 0;
  EXPECT_EQ(parsed().at("headline").as_string(), "2 keys are write-hot");
  EXPECT_EQ(parsed().at("nothing_hot"), false);
}

TEST(HotkeysJson, NothingHotIsSaidPlainly) {
  Report report = sample_report();
  report.keys.clear();
  report.hot_keys = 0;
  const json::value parsed = json::parse(hotkeys_json(report, kWallAt));
  EXPECT_TRUE(parsed.at("keys").as_array().empty());
  EXPECT_EQ(parsed.at("nothing_hot"), true);
  EXPECT_EQ(parsed.at("headline").as_string(),
            "nothing is hot: no key reaches 3000/s (detection.hot-qps)");
}

TEST(HotkeysJson, AKeyWithMostOfALittleTrafficIsNamed) {
  Report report = sample_report();
  report.hot_keys = 0;
  const auto told = [&] {
    return std::string(json::parse(hotkeys_json(report, kWallAt)).at("headline").as_string());
  };
  EXPECT_EQ(told(), "nothing is hot: no key reaches 3000/s (detection.hot-qps)");
  report.keys[0].verdict.share = 0.486;
  EXPECT_EQ(told(),
            "nothing is hot: no key reaches 3000/s (detection.hot-qps); the busiest, "
            "user:\\x00\\xff, has 48.6 % of the accesses");
}

TEST(HotkeysJson, OddReportsStayValid) {
  Report report = sample_report();
  report.requests_rate = std::numeric_limits<double>::quiet_NaN();
  report.coherence = "broken \xff text";
  KeyReport& key = report.keys[0];
  key.verdict.rate_high = std::numeric_limits<double>::infinity();
  key.verdict.count.hits = 50;                              // more than reads
  key.verdict.since = report.at + std::chrono::seconds(5);  // after the report
  const json::value parsed = json::parse(hotkeys_json(report, kWallAt));
  EXPECT_TRUE(parsed.at("node").at("requests_rate").is_null());
  EXPECT_EQ(parsed.at("node").at("coherence").as_string(), "broken \\xff text");
  const json::value& out = parsed.at("keys").as_array().at(0);
  EXPECT_TRUE(out.at("rate_high").is_null());
  EXPECT_EQ(out.at("misses"), 0);
  EXPECT_EQ(out.at("age_seconds"), 0);
}

}  // namespace
}  // namespace heatsink::report
