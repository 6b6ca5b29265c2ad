// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/top/view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <tuple>

namespace heatsink::app {
namespace {

using testing::HasSubstr;

constexpr std::string_view kNode = R"("node": {"upstream": "127.0.0.1:6379", "upstream_up": true,
  "coherence": "up", "requests_rate": 4.211E4, "reads_rate": 41800, "writes_rate": 310,
  "hits_rate": 30000, "misses_rate": 11800, "hit_ratio": 0.7177, "offload": 0.7124,
  "dimension": "requests",
  "hot": 3000, "warm": null, "clients": 50, "hot_keys": 1, "cached_entries": 1,
  "cached_bytes": 64, "stale_confirmed": 2})";

constexpr std::string_view kKey =
    R"({"name": "user:\\x00", "name_base64": "dXNlcjoA", "name_truncated": false, "db": 3,
  "rule": "user:*", "dimension": "requests", "window_seconds": 1,
  "commands": [{"name": "GET", "low": 7000, "high": 7500}],
  "clients": [{"name": "10.0.0.7", "low": 9, "high": 9}],
  "rate": 1000, "rate_low": 990.5, "rate_high": 1000, "share": 0.081, "reads": 7500, "writes": 2500,
  "hits": 5000, "misses": 2500, "bytes": 20000, "hit_ratio": 0.6667,
  "since": "2026-11-21T11:59:18.623Z",
  "age_seconds": 41.5, "verdict": "hot", "reason": "because", "cached": false,
  "cache_note": "too large", "level": "session",
  "max_staleness_seconds": 0.3, "reply_bytes": 71,
  "limit": "5/s per key", "limited_rate": 12.5})";

std::string answer(std::string_view node = kNode, std::string_view keys = kKey) {
  return R"({"at": "x", "window_seconds": 10, "uptime_seconds": 61.5,
  "headline": "1 key is hot", )" +
         std::string(node) + R"(, "keys": [)" + std::string(keys) + "]}";
}

std::string with(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(TopView, ReadsWhatTheReferenceShows) {
  const auto view = parse_hotkeys(answer());
  ASSERT_TRUE(view.ok()) << view.error().message;
  EXPECT_EQ(view->window, std::chrono::seconds(10));
  EXPECT_EQ(view->uptime, Millis(61'500));
  EXPECT_EQ(view->node.upstream, "127.0.0.1:6379");
  EXPECT_TRUE(view->node.upstream_up);
  EXPECT_DOUBLE_EQ(view->node.requests_rate, 42'110);
  EXPECT_EQ(view->node.cached_bytes, Bytes{64});
  EXPECT_EQ(view->node.stale_confirmed, 2u);
  ASSERT_EQ(view->keys.size(), 1u);
  const KeyView& key = view->keys[0];
  EXPECT_EQ(key.name, "user:\\x00");
  EXPECT_EQ(key.raw_name, std::string("user:\0", 6));
  EXPECT_EQ(key.max_staleness, Millis(300));
  EXPECT_EQ(key.value_bytes, Bytes{71});
  EXPECT_EQ(key.db, 3u);
  EXPECT_DOUBLE_EQ(key.rate_low, 990.5);
  EXPECT_EQ(key.age, Millis(41'500));
  EXPECT_FALSE(key.cached);
  EXPECT_EQ(key.cache_note, "too large");
  EXPECT_EQ(key.level, "session");
  EXPECT_EQ(key.rule, "user:*");
  ASSERT_EQ(key.commands.size(), 1u);
  EXPECT_EQ(key.commands[0].name, "GET");
  EXPECT_EQ(key.commands[0].count, 7000);
  EXPECT_EQ(key.clients.at(0).name, "10.0.0.7");
  EXPECT_EQ(view->headline, "1 key is hot");
  EXPECT_EQ(view->node.hot, 3000);
  EXPECT_TRUE(std::isnan(view->node.warm));
}

TEST(TopView, PartsOfTheRateFollowTheCounts) {
  const auto view = parse_hotkeys(answer());
  ASSERT_TRUE(view.ok());
  EXPECT_DOUBLE_EQ(view->keys[0].reads_rate, 750);
  EXPECT_DOUBLE_EQ(view->keys[0].writes_rate, 250);
  EXPECT_DOUBLE_EQ(view->keys[0].hits_rate, 500);
  EXPECT_DOUBLE_EQ(view->keys[0].misses_rate, 250);
  EXPECT_DOUBLE_EQ(view->keys[0].bytes_rate, 2000);
  const std::string unseen =
      with(with(answer(), "\"reads\": 7500", "\"reads\": 0"), "\"writes\": 2500", "\"writes\": 0");
  EXPECT_EQ(parse_hotkeys(unseen)->keys[0].reads_rate, 0);
}

TEST(TopView, WhatIsNotCountedInRequestsHasItsAccessesFromTheCounts) {
  const auto view = parse_hotkeys(with(with(answer(), "\"dimension\": \"requests\", \"window_",
                                            "\"dimension\": \"bytes\", \"window_"),
                                       "\"rate\": 1000", "\"rate\": 5E7"));
  ASSERT_TRUE(view.ok()) << view.error().message;
  EXPECT_DOUBLE_EQ(view->keys[0].rate, 5e7);
  EXPECT_DOUBLE_EQ(view->keys[0].reads_rate, 7500);
  EXPECT_DOUBLE_EQ(view->keys[0].bytes_rate, 5e7);
}

TEST(TopView, WhatIsNotToldIsNotKnown) {
  const auto view = parse_hotkeys(
      with(with(answer(), "\"max_staleness_seconds\": 0.3", "\"max_staleness_seconds\": null"),
           ", \"reply_bytes\": 71,\n  \"limit\": \"5/s per key\", \"limited_rate\": 12.5", ""));
  ASSERT_TRUE(view.ok()) << view.error().message;
  EXPECT_EQ(view->keys[0].max_staleness, std::nullopt);
  EXPECT_EQ(view->keys[0].value_bytes, std::nullopt);
  EXPECT_EQ(view->keys[0].limit, "");
}

constexpr std::string_view kCopies = R"(, "copies": {
  "choice": {"reads": 3, "history": 131072, "order": "clock"}, "saved": -0.25,
  "fill_cost": 1.5, "invalidation_cost": 0.5, "read_cpu_seconds": 0.00002,
  "proxy_read_cpu_seconds": -0.0000002, "proxy_fill_cpu_seconds": 0.000015,
  "prices": {"server": {"scale": 1.5, "measured": true}, "keeper": {"scale": 0.75,
  "measured": true}, "worker": {"scale": 1, "measured": false}, "fill_wait_seconds": 0.00018},
  "refused": {"seldom_read": 1200, "written": 30, "too_big": 4, "no_room": 5},
  "entries_max": 65536, "bytes_max": 67108864,
  "curve": [{"entries": 4096, "saved": 0.5}, {"entries": 65536, "saved": 0.625}],
  "advice": "the size is right",
  "top": [{"name": "k\\x1b", "name_base64": "axs=", "name_truncated": false, "db": 3,
           "commands": ["GET", "STRLEN"], "hits_rate": 500.5, "hits_rate_error": 30,
           "fills_rate": 2, "invalidations_rate": 1, "saved_rate": 400, "server_cpu": 0.008,
           "bytes": 321}]})";

TEST(TopView, ReadsTheLoadOfACluster) {
  EXPECT_FALSE(parse_hotkeys(answer(std::string(kNode) + R"(, "cluster_load": null)"))->cluster);
  const auto view = parse_hotkeys(answer(std::string(kNode) + R"(, "cluster_load": {
    "nodes": [{"name": "a:1", "slots": 8192, "rate": 900},
              {"name": "b:2", "slots": 8192, "rate": 100}],
    "slots": [{"slot": 3300, "node": "a:1", "rate": 800, "key": "b", "key_rate": 790,
               "tag": null},
              {"slot": 9000, "node": "c:3", "rate": 1, "key": null, "key_rate": null,
               "tag": null}]})"));
  ASSERT_TRUE(view.ok()) << view.error().message;
  EXPECT_TRUE(view->cluster);
  ASSERT_EQ(view->nodes.size(), 2U);
  EXPECT_EQ(view->nodes[0].upstream, "a:1");
  EXPECT_EQ(view->nodes[0].requests_rate, 900);
  ASSERT_EQ(view->slots.size(), 2U);
  EXPECT_EQ(view->slots[0].rate, 800);
  ASSERT_FALSE(view->slot_advice.empty());
  EXPECT_NE(view->slot_advice[0].find("slot 3300 is 89 % of the load of node a:1"),
            std::string::npos);
  EXPECT_FALSE(
      parse_hotkeys(answer(std::string(kNode) + R"(, "cluster_load": {"nodes": [3]})")).ok());
}

TEST(TopView, ReadsWhatTheNodesOfAClusterCount) {
  const auto view = parse_hotkeys(answer(std::string(kNode) + R"(, "cluster_load": {
    "judged_by": "cpu", "why_not_cpu": null,
    "nodes": [{"name": "a:1", "slots": 8192, "rate": 9, "cpu_cores": 0.5, "bytes_rate": 700,
               "commands_rate": 50000},
              {"name": "b:2", "slots": 8192, "rate": 9, "cpu_cores": 0.1, "bytes_rate": 7,
               "commands_rate": 1000}],
    "slots": [{"slot": 3300, "node": "a:1", "rate": 8, "key": "b", "key_rate": 8, "tag": null,
               "cpu_share": 0.8, "bytes_rate": 600}]})"));
  ASSERT_TRUE(view.ok()) << view.error().message;
  EXPECT_EQ(view->nodes[0].cpu_cores, 0.5);
  EXPECT_EQ(view->nodes[0].bytes_rate, 700);
  EXPECT_TRUE(view->slots_by_cpu);
  EXPECT_EQ(view->slots[0].cpu_share, 0.8);
  EXPECT_EQ(view->slots[0].bytes_rate, 600);
  ASSERT_GE(view->slot_advice.size(), 2U);
  EXPECT_EQ(view->slot_advice[0], "judged by the servers' CPU time, of all clients");
  EXPECT_THAT(view->slot_advice[1],
              testing::HasSubstr("slot 3300 is 80 % of the CPU time of node"));
  const auto old = parse_hotkeys(answer(std::string(kNode) + R"(, "cluster_load": {
    "judged_by": "commands", "why_not_cpu": "node a:1 is old",
    "nodes": [{"name": "a:1", "rate": 9}], "slots": []})"));
  ASSERT_TRUE(old.ok()) << old.error().message;
  EXPECT_EQ(old->slot_advice[0], "judged by the commands of this proxy: node a:1 is old");
}

TEST(TopView, ReadsTheChoiceOfCopies) {
  EXPECT_FALSE(parse_hotkeys(answer())->copies);
  EXPECT_FALSE(parse_hotkeys(answer(std::string(kNode) + R"(, "copies": null)"))->copies);
  const auto view = parse_hotkeys(answer(std::string(kNode) + std::string(kCopies)));
  ASSERT_TRUE(view.ok()) << view.error().message;
  ASSERT_TRUE(view->copies);
  EXPECT_EQ(view->copies->reads, 3U);
  EXPECT_EQ(view->copies->history, 131'072U);
  EXPECT_EQ(view->copies->order, "clock");
  EXPECT_EQ(view->copies->saved, -0.25);
  EXPECT_EQ(view->copies->fill_cost, 1.5);
  EXPECT_EQ(view->copies->invalidation_cost, 0.5);
  EXPECT_EQ(view->copies->seldom_read, 1200U);
  EXPECT_EQ(view->copies->written, 30U);
  EXPECT_EQ(view->copies->too_big, 4U);
  EXPECT_EQ(view->copies->no_room, 5U);
  EXPECT_EQ(view->copies->entries_max, 65'536U);
  EXPECT_EQ(view->copies->bytes_max, mebibytes(64));
  ASSERT_EQ(view->copies->curve.size(), 2U);
  EXPECT_EQ(view->copies->curve[1].entries, 65'536U);
  EXPECT_EQ(view->copies->curve[1].saved, 0.625);
  EXPECT_EQ(view->copies->advice, "the size is right");
  EXPECT_EQ(view->copies->read_cpu, std::chrono::microseconds(20));
  EXPECT_EQ(view->copies->proxy_read_cpu, std::chrono::nanoseconds(-200)) << "a hit takes longer";
  EXPECT_EQ(view->copies->proxy_fill_cpu, std::chrono::microseconds(15));
  ASSERT_TRUE(view->copies->prices);
  EXPECT_EQ(view->copies->prices->server.scale, 1.5);
  EXPECT_TRUE(view->copies->prices->keeper.is_measured);
  EXPECT_FALSE(view->copies->prices->worker.is_measured);
  EXPECT_EQ(view->copies->prices->fill_wait, std::chrono::microseconds(180));
}

TEST(TopView, ReadsTheCopiesThatSaveMost) {
  const auto view = parse_hotkeys(answer(std::string(kNode) + std::string(kCopies)));
  ASSERT_TRUE(view.ok()) << view.error().message;
  ASSERT_EQ(view->copies->top.size(), 1U);
  const CopiesView::Copy& copy = view->copies->top[0];
  EXPECT_EQ(copy.name, "k\\x1b");
  EXPECT_EQ(copy.db, 3U);
  EXPECT_EQ(copy.commands, (std::vector<std::string>{"GET", "STRLEN"}));
  EXPECT_EQ(copy.hits_rate, 500.5);
  EXPECT_EQ(copy.hits_error, 30);
  EXPECT_EQ(copy.fills_rate, 2);
  EXPECT_EQ(copy.invalidations_rate, 1);
  EXPECT_EQ(copy.saved_rate, 400);
  EXPECT_EQ(copy.server_cpu, 0.008);
  EXPECT_EQ(copy.bytes, Bytes{321});
}

// Older nodes have no such list.
TEST(TopView, CopiesWithoutThoseThatSaveMostAreRead) {
  std::string older(kCopies);
  older.resize(older.find(",\n  \"top\""));
  const auto view = parse_hotkeys(answer(std::string(kNode) + older + "}"));
  ASSERT_TRUE(view.ok()) << view.error().message;
  EXPECT_TRUE(view->copies->top.empty());
}

TEST(TopView, AWrongChoiceOfCopiesIsAnErrorThatNamesTheMember) {
  const std::string whole = std::string(kNode) + std::string(kCopies);
  for (const auto& [from, to, member] :
       {std::tuple{R"("reads": 3)", R"("reads": -3)", "reads"},
        {R"("refused": {)", R"("refused": 1, "more": {)", "refused"},
        {R"("curve": [)", R"("curve": [1, )", "curve"},
        {R"("advice": ")", R"("advice": 1, "more": ")", "advice"}}) {
    const auto view = parse_hotkeys(answer(with(whole, from, to)));
    ASSERT_FALSE(view.ok()) << member;
    EXPECT_THAT(view.error().message, HasSubstr(member));
  }
}

TEST(TopView, NoKeysIsAnAnswer) {
  const auto view = parse_hotkeys(answer(kNode, ""));
  ASSERT_TRUE(view.ok());
  EXPECT_TRUE(view->keys.empty());
}

TEST(TopView, WhateverElseAnswersIsAnErrorThatNamesTheMember) {
  const auto why = [](const std::string& text) {
    const auto view = parse_hotkeys(text);
    return view.ok() ? std::string("accepted") : view.error().message;
  };
  EXPECT_THAT(why("<html>"), HasSubstr("not JSON"));
  EXPECT_THAT(why(""), HasSubstr("not JSON"));
  EXPECT_THAT(why("[]"), HasSubstr("not an object"));
  EXPECT_THAT(why("{}"), HasSubstr("window_seconds"));
  EXPECT_THAT(why(with(answer(), "\"upstream_up\": true", "\"upstream_up\": 1")),
              HasSubstr("upstream_up"));
  EXPECT_THAT(why(with(answer(), "\"clients\": 50", "\"clients\": -1")), HasSubstr("clients"));
  EXPECT_THAT(why(with(answer(), "\"clients\": 50", "\"clients\": 1e300")), HasSubstr("clients"));
  EXPECT_THAT(why(with(answer(), "\"clients\": 50", "\"clients\": null")), HasSubstr("clients"));
  EXPECT_THAT(why(with(answer(), "\"name\": \"user:", "\"name\": 5, \"x\": \"")),
              HasSubstr("name"));
  EXPECT_THAT(why(with(answer(), "dXNlcjoA", "dXNlcjo")), HasSubstr("name_base64"));
  EXPECT_THAT(why(with(answer(), "\"rate\": 1000", "\"rate\": \"1000\"")), HasSubstr("rate"));
  EXPECT_THAT(why(answer("\"node\": []")), HasSubstr("node"));
  EXPECT_THAT(why(with(answer(), "\"commands\": [{", "\"commands\": [7, {")), HasSubstr("objects"));
  EXPECT_THAT(why(with(answer(), "\"low\": 9", "\"low\": \"9\"")), HasSubstr("low"));
  EXPECT_THAT(why(answer(kNode, "7")), HasSubstr("objects"));
  EXPECT_THAT(why(with(answer(), "\"keys\": [", "\"keys\": 3, \"more\": [")), HasSubstr("keys"));
}

constexpr std::string_view kTemplates = R"("templates": {"rest_rate_low": 5, "rest_rate_high": 8,
  "list": [{"name": "user:*", "name_base64": "dXNlcjoq", "name_truncated": false, "db": 3,
  "rate": 14000, "rate_low": 13990, "rate_high": 14010, "share": 0.25, "reads_rate": 12000,
  "writes_rate": 2000, "hits_rate": 9000}]})";

std::string with_templates(std::string_view templates) {
  return with(answer(), R"("keys")", std::string(templates) + R"(, "keys")");
}

TEST(TopView, TemplatesHaveTheirCounts) {
  const auto view = parse_hotkeys(with_templates(kTemplates));
  ASSERT_TRUE(view.ok()) << view.error().message;
  ASSERT_TRUE(view->templates);
  EXPECT_DOUBLE_EQ(view->templates->rest_low, 5);
  EXPECT_DOUBLE_EQ(view->templates->rest_high, 8);
  ASSERT_EQ(view->templates->list.size(), 1U);
  const KeyView& user = view->templates->list[0];
  EXPECT_EQ(user.raw_name, "user:*");
  EXPECT_EQ(user.db, 3U);
  EXPECT_DOUBLE_EQ(user.rate, 14'000);
  EXPECT_DOUBLE_EQ(user.misses_rate, 3000);
  EXPECT_DOUBLE_EQ(user.hit_ratio, 0.75);
}

TEST(TopView, TemplatesMayBeMissingButNotWrong) {
  EXPECT_FALSE(parse_hotkeys(answer())->templates);
  EXPECT_FALSE(parse_hotkeys(with_templates(R"("templates": null)"))->templates);
  for (const char* wrong :
       {R"("templates": 3)", R"("templates": {})",
        R"("templates": {"rest_rate_low": 0, "rest_rate_high": 0, "list": [3]})",
        R"("templates": {"rest_rate_low": 0, "rest_rate_high": 0, "list": [{}]})"})
    EXPECT_FALSE(parse_hotkeys(with_templates(wrong)).ok()) << wrong;
}

TEST(TopView, HugeNumbersAndDepthsAreHeld) {
  EXPECT_GT(
      parse_hotkeys(with(answer(), "\"age_seconds\": 41.5", "\"age_seconds\": 1e300"))->keys[0].age,
      std::chrono::hours(24 * 365 * 99));
  EXPECT_EQ(parse_hotkeys(with(answer(), "\"age_seconds\": 41.5", "\"age_seconds\": -1e300"))
                ->keys[0]
                .age,
            Nanos(0));
  EXPECT_FALSE(parse_hotkeys(std::string(100'000, '[')).ok());
  EXPECT_FALSE(parse_hotkeys(std::string(kAnswerBytesMax + 1, ' ')).ok());
}

TEST(TopView, AnObservedServerHasNoHitsToTellOf) {
  const std::string observed = with(with(answer(), "\"bytes\": 20000", "\"bytes\": 0"),
                                    "\"headline\"", R"("sources": [{"name": "monitor",
    "state": "running", "cost": "", "blind_spots": "", "confidence": "", "note": "",
    "progress": null}], "headline")");
  const auto view = parse_hotkeys(observed);
  ASSERT_TRUE(view.ok()) << view.error().message;
  EXPECT_TRUE(std::isnan(view->node.hits_rate));
  EXPECT_TRUE(std::isnan(view->keys[0].hits_rate));
  EXPECT_TRUE(std::isnan(view->keys[0].hit_ratio));
  EXPECT_TRUE(std::isnan(view->keys[0].misses_rate));
  EXPECT_TRUE(std::isnan(view->keys[0].bytes_rate));
  EXPECT_DOUBLE_EQ(view->keys[0].reads_rate, 750);
}

TEST(TopView, OfTheKeysThoseChosen) {
  const std::string second = with(std::string(kKey), "\"db\": 3", "\"db\": 4");
  const std::string both = answer(kNode, std::string(kKey) + ", " + second);
  const std::string line = json_with_keys(both, {1});
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const auto view = parse_hotkeys(line);
  ASSERT_TRUE(view.ok()) << view.error().message;
  ASSERT_EQ(view->keys.size(), 1U);
  EXPECT_EQ(view->keys[0].db, 4U);
  EXPECT_EQ(parse_hotkeys(json_with_keys(both, {1, 0}))->keys[1].db, 3U);
  EXPECT_EQ(view->uptime, Millis(61'500)) << "the rest stays";
}

TEST(TopView, OneLineForOneAnswer) {
  const auto line = json_on_one_line("{\n \"a\" : [1,\n 2] }\n");
  ASSERT_TRUE(line.ok());
  EXPECT_EQ(*line, R"({"a":[1,2]})");
  EXPECT_EQ(*json_on_one_line("{\"a\": 61.5}\n"), "{\"a\": 61.5}");
  EXPECT_FALSE(json_on_one_line("{").ok());
}

}  // namespace
}  // namespace heatsink::app
