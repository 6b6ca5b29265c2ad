// SPDX-License-Identifier: Apache-2.0
// The picture and the JSON of a server that was observed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/heatsink/top_observed_json.h"
#include "apps/heatsink/top_screen.h"

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
  detect::KeyReport key;
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
  return observed_json(all, std::chrono::system_clock::time_point());
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

}  // namespace
}  // namespace heatsink::app
