// SPDX-License-Identifier: Apache-2.0
// The values, the screen and the JSON of a server that was observed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "apps/heatsink/top/csv.h"
#include "apps/heatsink/top/explain_key.h"
#include "apps/heatsink/top/observed_json.h"
#include "apps/heatsink/top/observed_view.h"
#include "apps/heatsink/top/screen.h"
#include "heatsink/report/report.h"

namespace heatsink::app {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;
using testing::Not;

observe::Observation seen() {
  observe::Observation out;
  out.state = observe::SourceState::kRunning;
  out.facts = {"monitor", "MONITOR: 1.9 % over time (measured)", "between the windows",
               "with 95 %"};
  report::KeyReport key;
  key.verdict.count.key = std::string("a\0b", 3);
  key.verdict.temperature = detect::Temperature::kHot;
  key.verdict.count.reads = 100;
  key.verdict.rate = 5000;
  key.verdict.rate_low = 4800;
  key.verdict.rate_high = 5100;
  key.verdict.share = 0.5;
  out.report.at = TimePoint(seconds(100));
  out.report.uptime = seconds(9);
  out.report.upstream = "db7:6379";
  out.report.upstream_up = true;
  out.report.requests_rate = 10'000;
  out.report.hot_keys = 1;
  out.report.keys = {key};
  return out;
}

std::string json_of(const std::vector<observe::Observation>& all) {
  observe::Picture picture;
  picture.sources = all;
  return observed_json(picture, std::chrono::system_clock::time_point());
}

TEST(TopObserved, TheAnswerIsThatOfAProxyAndTellsItsSources) {
  const auto view = parse_hotkeys(json_of({seen()}));
  ASSERT_TRUE(view) << view.error().message;
  ASSERT_EQ(view->keys.size(), 1u);
  EXPECT_EQ(view->keys[0].name, "a\\x00b");
  EXPECT_EQ(view->keys[0].rate_high, 5100);
  ASSERT_EQ(view->sources.size(), 1u);
  EXPECT_EQ(view->sources[0].name, "monitor");
  EXPECT_EQ(view->sources[0].state, "running");
  EXPECT_EQ(view->sources[0].confidence, "with 95 %");
  EXPECT_TRUE(view->cross_check.empty());
}

// Without an answer from the server the screen must not claim that nothing is hot.
TEST(TopObserved, BeforeAnythingWasSeenNoVerdictIsGiven) {
  observe::Observation begins = seen();
  begins.state = observe::SourceState::kStarting;
  begins.report = {};
  const auto view = parse_hotkeys(json_of({begins}));
  ASSERT_TRUE(view) << view.error().message;
  EXPECT_EQ(view->headline, "hot keys are not known yet: monitor is starting");
  EXPECT_TRUE(std::isnan(view->node.requests_rate));
  EXPECT_TRUE(view->only_begins());

  TopModel model("db7:6379", seconds(1));
  model.observed = true;
  model.answered(*view);
  EXPECT_THAT(frame_text(model, TimePoint(seconds(9))),
              testing::AllOf(HasSubstr("not known yet"), Not(HasSubstr("0/s   reads"))));
  EXPECT_THAT(summary_text(model, seconds(9)), HasSubstr("no answer from redis://db7:6379 in 9s"));
  begins.state = observe::SourceState::kRunning;
  model.answered(parse_hotkeys(json_of({begins})).value());
  EXPECT_THAT(frame_text(model, TimePoint(seconds(9))), HasSubstr("nothing is hot"));
  EXPECT_THAT(summary_text(model, seconds(9)), HasSubstr("No key was hot"));
}

TEST(TopObserved, TheIntervalOfTheRatesIsTold) {
  observe::Observation one = seen();
  EXPECT_THAT(json_of({one}), HasSubstr(R"("since":null,"until":null)"));
  one.interval = observe::Interval{one.report.at - seconds(10), one.report.at - Millis(250)};
  observe::Picture picture;
  picture.sources = {one};
  EXPECT_THAT(
      observed_json(picture, std::chrono::system_clock::time_point(seconds(60))),
      HasSubstr(R"("since":"1970-01-01T00:00:50.000Z","until":"1970-01-01T00:00:59.750Z")"));
}

TEST(TopObserved, WhatIsKnownOfAKeyIsTold) {
  observe::Observation known = seen();
  observe::KeyDetails details;
  details.type = "hash";
  details.encoding = "listpack";
  details.value_bytes = 120;
  details.ttl = seconds(5);
  known.details = {details};
  const auto view = parse_hotkeys(json_of({known}));
  ASSERT_TRUE(view) << view.error().message;
  const KeyView& key = view->keys[0];
  EXPECT_EQ(key.type, "hash");
  EXPECT_EQ(key.encoding, "listpack");
  EXPECT_EQ(key.value_bytes, Bytes{120});
  EXPECT_EQ(key.ttl, Nanos(seconds(5)));
  EXPECT_FALSE(key.never_expires);
}

TEST(TopObserved, HowAKeyWasAnsweredIsTold) {
  observe::Observation captured = seen();
  observe::KeyAnswers answers;
  answers.absent_share = 0.1;
  answers.latency_mean = Millis(1);
  answers.latency_p99 = Millis(4);
  captured.answers = {answers};
  const auto view = parse_hotkeys(json_of({captured}));
  ASSERT_TRUE(view) << view.error().message;
  const KeyView& key = view->keys[0];
  EXPECT_EQ(key.misses_rate, 500);
  EXPECT_TRUE(std::isnan(key.hits_rate));
  EXPECT_EQ(key.latency_mean, Millis(1));
  EXPECT_EQ(key.latency_p99, Millis(4));
}

TEST(TopObserved, SlotsHaveWhatTheirSourceKnows) {
  observe::Observation scan = seen();
  scan.slots = {{.slot = 16383,
                 .keys = 61,
                 .cpu_share = kUnknown,
                 .bytes_rate = kUnknown,
                 .rate = 0.5,
                 .node = "db7:1"}};
  const auto view = parse_hotkeys(json_of({scan}));
  ASSERT_TRUE(view) << view.error().message;
  ASSERT_EQ(view->slots.size(), 1u);
  const SlotView& slot = view->slots[0];
  EXPECT_EQ(slot.slot, 16383);
  EXPECT_EQ(slot.keys, 61);
  EXPECT_EQ(slot.rate, 0.5);
  EXPECT_EQ(slot.node, "db7:1");
  EXPECT_TRUE(std::isnan(slot.cpu_share));
  EXPECT_TRUE(std::isnan(slot.bytes_rate));
  scan.slots = {{.slot = 1, .keys = 1, .cpu_share = 0.5, .bytes_rate = 9}};
  EXPECT_TRUE(std::isnan(parse_hotkeys(json_of({scan}))->slots.at(0).rate));
}

TEST(TopObserved, ASecondSourceChecksTheFirst) {
  observe::Observation other = seen();
  other.facts.name = "lfu";
  EXPECT_THAT(json_of({seen(), other}), HasSubstr("2 sources agree"));
  other.report.keys[0].verdict.rate_low = 9000;
  other.report.keys[0].verdict.rate_high = 9500;
  const auto view = parse_hotkeys(json_of({seen(), other}));
  ASSERT_EQ(view->cross_check.size(), 1u);
  EXPECT_THAT(view->cross_check[0], HasSubstr("9000 .. 9500"));
}

TEST(TopObserved, ThePictureTellsPriceAndConfidenceAndNothingOfCopies) {
  TopModel model("db7:6379", seconds(1));
  model.observed = true;
  model.answered(*parse_hotkeys(json_of({seen()})));
  const std::string picture = draw_top(model, {80, 24}, TimePoint(seconds(1))).text();
  EXPECT_THAT(picture, HasSubstr("db7:6379 up   source monitor   watched 9s"));
  EXPECT_THAT(picture, HasSubstr("MONITOR: 1.9 % over time (measured)"));
  EXPECT_THAT(picture, HasSubstr("with 95 %"));
  EXPECT_THAT(picture, Not(HasSubstr("LOAD TAKEN OFF")));
  EXPECT_THAT(picture, Not(HasSubstr("coherence")));
}

// Everything that is known of a view, as people and programs get it.
std::string shown(const HotkeysView& view) {
  TopModel model("db7:6379", seconds(1));
  model.observed = true;
  model.answered(view);
  std::string out = csv_block(model.rows(), "T");
  for (const KeyView& key : view.keys) out += explain_json(view, {key.raw_name, key.db});
  if (!view.keys.empty()) model.open_key = OpenKey{view.keys.front()};
  for (const Page page : kAllPages) {
    model.choices.page = page;
    out += draw_top(model, {200, 60}, TimePoint(seconds(9))).text();
  }
  return out;
}

observe::Picture full_picture() {
  observe::Observation first = seen();
  first.report.window = seconds(10);
  first.report.hot_means = "at least 3000/s\n(detection.hot-qps)";
  first.report.hot = 3000;
  first.report.warm = std::numeric_limits<double>::infinity();
  first.report.absent_max = 12.5;
  report::KeyReport& hot = first.report.keys[0];
  hot.verdict.count.writes = 7;
  hot.verdict.count.bytes = 4200;
  hot.verdict.count.commands = {{"GET", 39, 41}};
  hot.verdict.count.clients = {{"10.0.0.7", 30, 30}, {"\x1b", 1, 2}};
  hot.verdict.measure.window = seconds(10);
  hot.verdict.since = first.report.at - Millis(41'500);
  hot.verdict.reason = "5000/s >= hot-qps 3000";
  hot.reply_bytes = Bytes{71};
  report::KeyReport bytes = hot;
  bytes.verdict.count.key = "by:bytes";
  bytes.verdict.measure.dimension = detect::Dimension::kBytes;
  bytes.verdict.temperature = detect::Temperature::kWarm;
  first.report.keys.push_back(bytes);
  observe::KeyDetails details;
  details.type = "hash";
  details.encoding = "listpack";
  details.memory_bytes = 184;
  details.ttl = seconds(5);
  first.details = {details, std::nullopt};
  observe::KeyAnswers answers;
  answers.absent_share = 0.1;
  answers.latency_mean = Millis(1);
  answers.latency_p99 = Millis(4);
  first.answers = {answers, std::nullopt};
  first.node_of_row = {"db7:1", "db7:2"};
  first.slots = {{.slot = 7, .keys = 61, .cpu_share = kUnknown, .bytes_rate = 9, .node = "db7:1"}};
  first.note = "a note\nof two lines";
  first.progress = 0.25;
  observe::Observation second = seen();
  second.facts.name = "lfu";
  second.progress = -1;
  observe::Picture picture;
  picture.sources = {first, second};
  picture.is_cluster = true;
  picture.nodes = {
      {.name = "db7:1", .is_up = true, .is_watched = true, .load = {}, .trouble = ""},
      {.name = "db7:2", .is_up = false, .is_watched = false, .load = {}, .trouble = "refused\n"}};
  return picture;
}

TEST(TopObserved, TheScreenAndTheJsonSayTheSame) {
  observe::Picture picture = full_picture();
  const std::string direct = shown(observed_view(picture));
  EXPECT_THAT(direct, HasSubstr("listpack"));
  EXPECT_THAT(direct, HasSubstr("of two lines"));
  EXPECT_EQ(direct, shown(parse_hotkeys(observed_json(picture, WallTime())).value()));
  picture.is_cluster = false;
  EXPECT_EQ(shown(observed_view(picture)),
            shown(parse_hotkeys(observed_json(picture, WallTime())).value()));
}

TEST(TopObserved, BeforeAnythingWasSeenTheScreenSaysWhatTheJsonSays) {
  observe::Picture picture;
  picture.sources = {seen()};
  picture.sources[0].state = observe::SourceState::kStarting;
  picture.sources[0].report = {};
  const HotkeysView view = observed_view(picture);
  EXPECT_TRUE(view.only_begins());
  EXPECT_EQ(shown(view), shown(parse_hotkeys(observed_json(picture, WallTime())).value()));
}

}  // namespace
}  // namespace heatsink::app
