// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/history/answer.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <time.h>

#include <chrono>
#include <cmath>

#include "apps/heatsink/history/answer_json.h"
#include "heatsink/heat/scale.h"

namespace heatsink::app {
namespace {

constexpr std::int64_t kNoon = 1'795'867'200;  // 2026-11-28 12:00 UTC

WallTime at(std::int64_t second) { return WallTime(std::chrono::seconds(kNoon + second)); }

// Two minutes of 100/s and 300/s, with one key.
heat::HeatMap two_minutes() {
  heat::HeatMap map;
  map.step = std::chrono::minutes(1);
  for (const float rate : {100.0F, 300.0F}) {
    heat::HeatMap::Step step;
    step.begin = TimePoint(std::chrono::seconds(kNoon + 60 * static_cast<int>(map.steps.size())));
    step.seconds = 60;
    step.totals = {rate, rate, 0, rate / 2, rate, rate / 4, 0.001F, 0.002F * rate, NAN};
    step.totals[heat::kBytesAt] = 4096 * rate;
    step.totals[heat::kServerCpuAt] = 0.1F;
    step.totals[heat::kServerCpuSparedAt] = 0.2F;
    step.totals[heat::kClientCommandsAt] = rate;
    step.requests_max = rate * 2;
    step.unnamed_max = {5, 0};
    map.steps.push_back(step);
  }
  heat::HeatMap::Row row;
  row.identity.name = "product:1";
  row.mean = {heat::code_of(64), heat::code_of(128)};
  row.max = {heat::code_of(64), heat::code_of(256)};
  row.writes = {0, 0};
  row.hits = {heat::code_of(32), heat::code_of(64)};
  row.bytes = {heat::bytes_code(64 * 4096), heat::bytes_code(128 * 4096)};
  map.rows.push_back(row);
  row.identity.kind = heat::Kind::kTemplate;
  row.identity.name = "product:*";
  map.rows.push_back(row);
  row.identity.kind = heat::Kind::kClient;
  row.identity.name = "10.0.0.7";
  row.hits = row.bytes = {0, 0};
  map.rows.push_back(row);
  return map;
}

TEST(HistoryAnswer, SumsOverTheTime) {
  const HistoryQuestion question{.path = "", .from = at(0), .to = at(120)};
  const HistoryAnswer answer = summarize(question, two_minutes());
  EXPECT_EQ(answer.counted_s, 120U);
  EXPECT_EQ(answer.requests, 200);
  EXPECT_EQ(answer.requests_max, 600);
  EXPECT_EQ(answer.server_commands, 50);
  EXPECT_NEAR(answer.latency_p99_max_s, 0.6, 1e-6);
  ASSERT_EQ(answer.rows.size(), 1U) << "the template is no key";
  EXPECT_NEAR(answer.rows[0].rate, 96, 1);
  EXPECT_NEAR(answer.rows[0].rate_max, 256, 1);
  EXPECT_NEAR(answer.others, 104, 1);
  EXPECT_EQ(answer.times.size(), 2U);
}

TEST(HistoryAnswer, AStepThatDoesNotNameTheKeyCountsAsNothing) {
  heat::HeatMap map = two_minutes();
  map.rows[0].mean[1] = 0;
  const HistoryAnswer answer = summarize({.path = "", .from = at(0), .to = at(120)}, map);
  EXPECT_NEAR(answer.rows[0].rate, 32, 1);
  EXPECT_EQ(answer.rows[0].over_time[1], 0);
}

TEST(HistoryAnswer, ReadsAsASentence) {
  setenv("TZ", "UTC", 1);
  tzset();
  const HistoryQuestion question{.path = "", .from = at(0), .to = at(120)};
  HistoryAnswer answer = summarize(question, two_minutes());
  answer.events.push_back({.at = at(61),
                           .what = "hot",
                           .has_key = true,
                           .name = "product:1",
                           .reason = "128/s >= hot-qps 100"});
  EXPECT_EQ(
      history_text(question, answer),
      "2026-11-28 12:00:00 to 2026-11-28 12:02:00 (+0000): 120 of 120 s counted, in steps of "
      "1m\n"
      "requests  200/s, 600/s in the busiest second; 100 % of them reads\n"
      "latency   1.0ms (median), 600ms in the worst step (99 of 100)\n"
      "copies    answered 50.0 % of the reads\n"
      "servers   got 50/s commands instead of 200/s: 75.0 % less\n"
      "bytes     819kB/s read and written\n"
      "CPU       the servers used 10.0 % of a core; copies spared them about 20.0 %\n"
      "\n"
      "    RATE   SHARE  HIGHEST   WRITES    HITS    BYTES CPU SAVED  WHEN                      "
      "KEY\n"
      "    96/s  48.0 %    256/s           50.0 %  393kB/s    10.7 %  ▅█                        "
      "product:1\n"
      "   104/s  52.0 %                                                                         "
      "all other keys\n"
      "\n"
      "A key that a step does not name had at most 5/s in it.\n"
      "\n"
      "2026-11-28 12:01:01  hot             product:1: 128/s >= hot-qps 100\n");
}

// Rows of other kinds add up to another total.
TEST(HistoryAnswer, ClientsHaveTheirCommands) {
  const HistoryQuestion question{
      .path = "", .from = at(0), .to = at(120), .kind = heat::Kind::kClient};
  const HistoryAnswer answer = summarize(question, two_minutes());
  ASSERT_EQ(answer.rows.size(), 1U);
  EXPECT_EQ(answer.total, 200);
  const std::string text = history_text(question, answer);
  EXPECT_NE(text.find("    RATE   SHARE  HIGHEST  WHEN                      CLIENT\n"
                      "    96/s  48.0 %    256/s  ▅█                        10.0.0.7\n"
                      "   104/s  52.0 %                                     all other clients\n"),
            std::string::npos)
      << text;
  EXPECT_NE(history_json(question, answer).find("\"clients\":[{\"name\":\"10.0.0.7\""),
            std::string::npos);
}

// The first second of a process, or a file of an earlier version.
TEST(HistoryAnswer, AStepWithoutCountsOfTheKindIsLeftOut) {
  heat::HeatMap map = two_minutes();
  map.steps[0].totals[heat::kClientCommandsAt] = NAN;
  map.rows[2].mean[0] = 0;
  const HistoryQuestion question{
      .path = "", .from = at(0), .to = at(120), .kind = heat::Kind::kClient};
  const HistoryAnswer answer = summarize(question, map);
  ASSERT_EQ(answer.rows.size(), 1U);
  EXPECT_EQ(answer.total, 300);
  EXPECT_NEAR(answer.rows[0].rate, 128, 1);
  EXPECT_TRUE(std::isnan(answer.rows[0].over_time[0])) << "not known";
  EXPECT_NEAR(answer.rows[0].over_time[1], 128, 1);
}

TEST(HistoryAnswer, SaysWhyThereAreNoRowsOfACluster) {
  heat::HeatMap map = two_minutes();
  for (heat::HeatMap::Step& step : map.steps) step.totals[heat::kNodeCommandsAt] = 0;
  const auto text_of = [&map](heat::Kind kind) {
    const HistoryQuestion question{.path = "", .from = at(0), .to = at(120), .kind = kind};
    return history_text(question, summarize(question, map));
  };
  EXPECT_NE(text_of(heat::Kind::kSlot).find("no slot had"), std::string::npos);
  EXPECT_NE(text_of(heat::Kind::kNode).find("no command to a node"), std::string::npos);
}

TEST(HistoryAnswer, SaysWhyThereAreNoSlotsAndNodes) {
  for (const heat::Kind kind : {heat::Kind::kSlot, heat::Kind::kNode}) {
    const HistoryQuestion question{.path = "", .from = at(0), .to = at(120), .kind = kind};
    const std::string text = history_text(question, summarize(question, two_minutes()));
    EXPECT_NE(text.find("the server was no cluster"), std::string::npos) << text;
  }
}

// Half of all hits of a step spare half of what all spared.
TEST(HistoryAnswer, CpuTimeIsSparedByHits) {
  heat::HeatMap map = two_minutes();
  const HistoryQuestion question{.path = "", .from = at(0), .to = at(120)};
  EXPECT_NEAR(summarize(question, map).rows[0].server_cpu_spared,
              (0.2 * 32 / 50 + 0.2 * 64 / 150) / 2, 0.003);
  map.steps[0].totals[heat::kServerCpuSparedAt] = NAN;
  EXPECT_NEAR(summarize(question, map).rows[0].server_cpu_spared, 0.2 * 64 / 150, 0.003);
  map.steps[1].totals[heat::kServerCpuSparedAt] = NAN;
  EXPECT_TRUE(std::isnan(summarize(question, map).rows[0].server_cpu_spared)) << "not known";
}

TEST(HistoryAnswer, JsonHasTheSameFigures) {
  const HistoryQuestion question{.path = "", .from = at(0), .to = at(120)};
  const std::string json = history_json(question, summarize(question, two_minutes()));
  EXPECT_NE(json.find("\"from\":\"2026-11-28T12:00:00.000Z\""), std::string::npos);
  EXPECT_NE(json.find("\"counted_seconds\":120"), std::string::npos);
  EXPECT_NE(json.find("\"name\":\"product:1\""), std::string::npos);
}

TEST(HistoryAnswer, AFileFromElsewhereCannotWriteToATerminal) {
  const HistoryQuestion question{.path = "", .from = at(0), .to = at(120)};
  HistoryAnswer answer;
  const std::string wild = "\x1b[2J\xff";
  answer.events.push_back({.at = at(61),
                           .what = wild,
                           .has_key = true,
                           .name = wild,
                           .before = wild,
                           .rule = wild,
                           .reason = wild});
  for (const std::string& text : {history_text(question, answer), history_json(question, answer)}) {
    EXPECT_EQ(text.find_first_of("\x1b\xff"), std::string::npos) << text;
    EXPECT_EQ(text.find("u001B"), std::string::npos) << text;
    EXPECT_NE(text.find("x1b[2J"), std::string::npos) << text;
  }
}

TEST(HistoryAnswer, SaysWhatTheFileHasIfTheTimeIsEmpty) {
  const HistoryQuestion question{.path = "", .from = at(0), .to = at(120)};
  HistoryAnswer answer;
  answer.kept = history::Kept{at(-3600), at(-60)};
  EXPECT_NE(history_text(question, answer).find("nothing was counted\nthe file has 2026-11-28 "),
            std::string::npos);
}

}  // namespace
}  // namespace heatsink::app
