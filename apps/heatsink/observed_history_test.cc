// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/observed_history.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace heatsink::app {
namespace {

using std::chrono::seconds;

TopAnswer answer_with(const std::string& key, const std::string& verdict, double rate) {
  TopAnswer out;
  out.json = "{\"headline\":\"" + key + "\"}\n";
  out.view.window = seconds(10);
  out.view.node.upstream = "db7:6379";
  out.view.node.upstream_up = true;
  out.view.node.requests_rate = rate;
  KeyView& row = out.view.keys.emplace_back();
  row.name = row.raw_name = key;
  row.dimension = "requests";
  row.rate = rate;
  row.verdict = verdict;
  row.reason = "busy";
  return out;
}

TEST(ObservedHistory, AnAnswerIsAColumnAndWhatIsShownNow) {
  ObservedHistory history;
  EXPECT_NE(history.problem(), "");
  history.add(answer_with("a", "warm", 500), TimePoint(seconds(101)));
  EXPECT_EQ(history.problem(), "");
  EXPECT_EQ(history.json(), "{\"headline\":\"a\"}\n");
  EXPECT_EQ(history.report().upstream, "db7:6379");
  const heat::HeatMap map =
      history.heat().read({.from = TimePoint(seconds(90)), .to = TimePoint(seconds(110))});
  ASSERT_EQ(map.rows.size(), 1U);
  EXPECT_EQ(map.rows[0].identity.name, "a");
  EXPECT_TRUE(history.events().empty()) << "nothing is hot";
}

TEST(ObservedHistory, AKeyThatBecomesHotIsAnEvent) {
  ObservedHistory history;
  history.add(answer_with("a", "hot", 500), TimePoint(seconds(101)));
  history.add(answer_with("a", "hot", 600), TimePoint(seconds(102)));
  history.add(answer_with("a", "warm", 50), TimePoint(seconds(103)));
  const std::vector<report::Event> events = history.events();
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].key, "a");
  EXPECT_EQ(events[0].temperature, detect::Temperature::kHot);
  EXPECT_EQ(events[1].temperature, detect::Temperature::kWarm);
  EXPECT_EQ(events[1].before, detect::Temperature::kHot);
  EXPECT_EQ(events[1].number, 2U);
}

TEST(ObservedHistory, AFailureIsToldUntilTheNextAnswer) {
  ObservedHistory history;
  history.failed("connection refused");
  EXPECT_EQ(history.problem(), "connection refused");
  history.add(answer_with("a", "hot", 500), TimePoint(seconds(101)));
  EXPECT_EQ(history.problem(), "");
}

TEST(ObservedHistory, ItsPagesAreThoseOfTheProxyThatItHas) {
  ObservedHistory history;
  const std::vector<httpd::Route> routes = pages_of(history);
  for (const char* const path :
       {"/", "/api/hotkeys", "/api/events", "/api/heatmap", "/api/stream", "/healthz"})
    EXPECT_NE(std::ranges::find(routes, path, &httpd::Route::path), routes.end()) << path;
  EXPECT_EQ(std::ranges::find(routes, "/api/warm", &httpd::Route::path), routes.end());
}

}  // namespace
}  // namespace heatsink::app
