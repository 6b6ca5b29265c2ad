// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/event_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heatsink/base/log.h"
#include "heatsink/base/testing/times.h"
#include "heatsink/report/report.h"

namespace heatsink::copies {
namespace {

using detect::Temperature;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class EventLogTest : public ::testing::Test {
 protected:
  EventLogTest() {
    set_log_level(LogLevel::kDebug);
    set_log_sink([this](LogLevel, std::string_view line) { lines.emplace_back(line); });
  }
  ~EventLogTest() override {
    set_log_sink({});
    set_log_level(LogLevel::kInfo);
  }

  static detect::Change change(const std::string& key, Temperature before, Temperature after) {
    detect::Change out{};
    out.verdict.count.key = key;
    out.verdict.count.db = 2;
    out.verdict.temperature = after;
    out.verdict.reason = "because";
    out.before = before;
    return out;
  }
  static std::vector<detect::Change> many(int count, Temperature after) {
    return std::vector<detect::Change>(static_cast<std::size_t>(count),
                                       change("k", Temperature::kCold, after));
  }
  std::vector<std::string> take() { return std::exchange(lines, {}); }

  std::vector<std::string> lines;
  EventLog log{"no key reaches 3000/s (detection.hot-qps)"};
};

TEST_F(EventLogTest, ChangesBetweenWarmAndColdAreLinesOnlyForDebugging) {
  set_log_level(LogLevel::kInfo);
  log.add(std::vector{change("user:1", Temperature::kCold, Temperature::kWarm),
                      change("user:2", Temperature::kWarm, Temperature::kCold),
                      change("user:3", Temperature::kWarm, Temperature::kHot)},
          1, at(0));
  log.add({}, 1, at(2000));
  EXPECT_THAT(take(), ElementsAre("user:3 (db 2) is hot: because"));
  EXPECT_EQ(log.latest().size(), 3u);
}

TEST_F(EventLogTest, AnOrderIsALineAndAnEventHoweverMuchElseIsLogged) {
  std::vector<report::Event> heard;
  log.listen([&heard](const report::Event& event) { heard.push_back(event); });
  log.add(many(100, Temperature::kHot), 100, at(0));
  take();
  log.add_order("", 0, "warming of 2 keys for 1m (by alice)", at(1));
  log.add_order("k", 2, "dropped its local copy (by alice)", at(2));
  EXPECT_THAT(take(), ElementsAre("order: warming of 2 keys for 1m (by alice)",
                                  "order for k (db 2): dropped its local copy (by alice)"));
  ASSERT_GE(heard.size(), 2U);
  EXPECT_EQ(std::string(word_for(heard.back())), "order");
  EXPECT_TRUE(has_key(heard.back()));
  EXPECT_FALSE(is_verdict(heard.back()));
  EXPECT_FALSE(has_key(heard[heard.size() - 2]));
}

TEST_F(EventLogTest, AnOrderSaysThatItsLongNameIsCut) {
  log.add_order(std::string(detect::kKeyBytesMax, 'a'), 0, "warming", at(1));
  log.add_order(std::string(detect::kKeyBytesMax + 1, 'a'), 0, "warming", at(2));
  const std::vector<report::Event> events = log.latest();
  ASSERT_EQ(events.size(), 2U);
  EXPECT_FALSE(events[0].key_truncated);
  EXPECT_TRUE(events[1].key_truncated);
  EXPECT_EQ(events[1].key.size(), detect::kKeyBytesMax);
}

TEST_F(EventLogTest, EachChangeIsALineAndAnEvent) {
  log.add(std::vector{change("product:1", Temperature::kCold, Temperature::kHot)}, 1, at(0));
  log.add({}, 1, at(100));
  EXPECT_THAT(take(), ElementsAre("product:1 (db 2) is hot: because"));
  log.add(std::vector{change("product:1", Temperature::kHot, Temperature::kWriteHot)}, 1, at(200));
  log.add(std::vector{change("product:1", Temperature::kWriteHot, Temperature::kWarm)}, 1, at(300));
  log.add(std::vector{change("user:1", Temperature::kWarm, Temperature::kCold)}, 1, at(400));
  EXPECT_THAT(take(), ElementsAre("product:1 (db 2) is write-hot: because",
                                  "product:1 (db 2) is no longer write-hot, but warm: because",
                                  "user:1 (db 2) is cold: because"));
  const std::vector<report::Event> events = log.latest();
  ASSERT_EQ(events.size(), 4u);
  EXPECT_EQ(events[0].number, 1u);
  EXPECT_EQ(events[0].at, at(0));
  EXPECT_EQ(events[3].number, 4u);
  EXPECT_EQ(events[3].key, "user:1");
  EXPECT_EQ(events[3].before, Temperature::kWarm);
}

TEST_F(EventLogTest, ALimitThatComesByItselfIsALineAndAnEvent) {
  log.add_limit(true, "flash", 1, "because", at(0));
  log.add_limit(false, "flash", 1, "calm", at(100));
  EXPECT_THAT(take(), ElementsAre("flash (db 1) is limited: because",
                                  "flash (db 1) is no longer limited: calm"));
  ASSERT_EQ(log.latest().size(), 2u);
  EXPECT_EQ(log.latest()[1].limit, report::Event::Limit::kEnded);
}

TEST_F(EventLogTest, NothingHotIsSaidOnceTheLastHotKeyHasGone) {
  log.add({}, 0, at(0));
  EXPECT_THAT(take(), IsEmpty()) << "it never was otherwise";
  log.add(std::vector{change("k", Temperature::kCold, Temperature::kHot)}, 1, at(0));
  log.add(std::vector{change("k", Temperature::kHot, Temperature::kCold)}, 0, at(10));
  log.add({}, 0, at(20));
  EXPECT_THAT(take(), ElementsAre("k (db 2) is hot: because",
                                  "k (db 2) is no longer hot, but cold: because",
                                  "nothing is hot: no key reaches 3000/s (detection.hot-qps)"));
  EXPECT_TRUE(log.latest().back().nothing_hot);
}

TEST_F(EventLogTest, AnEventTellsWhatWasTakenOffAtItsTime) {
  const EventLog::Reliefs reliefs{
      .of_key =
          [](const detect::Verdict& verdict) {
            return verdict.count.key == "k" ? report::relief_of(verdict.count, 20)
                                            : report::LoadRelief{};
          },
      .of_all = [] { return report::LoadRelief{.hits = 1, .hit_ratio = 0.5, .offload = -0.031}; }};
  detect::Change cooled = change("k", Temperature::kHot, Temperature::kCold);
  cooled.verdict.count.reads = 40;
  cooled.verdict.count.hits = 30;
  log.add(std::vector{change("other", Temperature::kCold, Temperature::kHot)}, 1, at(0), reliefs);
  log.add(std::vector{cooled}, 0, at(100), reliefs);
  EXPECT_THAT(take(),
              ElementsAre("other (db 2) is hot: because",
                          "k (db 2) is no longer hot, but cold: because; copies answered 75.0 % of "
                          "its reads, and 50.0 % of its load was taken off",
                          "nothing is hot: no key reaches 3000/s (detection.hot-qps); copies "
                          "answered 50.0 % of the reads, and -3.1 % of the load was taken off"));
  ASSERT_TRUE(log.latest()[1].relief);
  EXPECT_EQ(log.latest()[1].relief->misses, 10U);
}

TEST_F(EventLogTest, FloodsAreSummedUp) {
  log.add(many(322, Temperature::kHot), 322, at(0));
  EXPECT_EQ(take().size(), EventLog::kLinesPerSecond);
  log.add(many(5, Temperature::kHot), 327, at(999));
  EXPECT_THAT(take(), IsEmpty());
  log.add({}, 327, at(1000));
  EXPECT_THAT(take(),
              ElementsAre("and 317 more changes of keys; see GET /api/events for the latest"));
  log.add({}, 327, at(2000));
  EXPECT_THAT(take(), IsEmpty());
}

TEST_F(EventLogTest, HotKeysAreToldFirstAndNeverPushedOutByWarmOnes) {
  std::vector<detect::Change> changes = many(2000, Temperature::kWarm);
  changes.push_back(change("hot", Temperature::kWarm, Temperature::kHot));
  log.add(changes, 1, at(0));
  const std::vector<std::string> told = take();
  ASSERT_EQ(told.size(), 1 + EventLog::kLinesPerSecond / 2);
  EXPECT_THAT(told[0], HasSubstr("hot (db 2) is hot"));
  log.add(std::vector{change("late", Temperature::kWarm, Temperature::kHot)}, 2, at(10));
  EXPECT_THAT(take(), ElementsAre(HasSubstr("late (db 2) is hot")));
  const std::vector<report::Event> events = log.latest();
  EXPECT_EQ(events.size(), EventLog::kEventsMax + 2);
  EXPECT_EQ(events.front().key, "hot");
  EXPECT_EQ(events.back().key, "late");
  for (std::size_t i = 1; i < events.size(); ++i) ASSERT_LT(events[i - 1].number, events[i].number);
}

TEST_F(EventLogTest, AListenerGetsWhatConcernsHotKeys) {
  std::vector<std::string> heard;
  log.listen([&heard](const report::Event& event) { heard.push_back(event.key); });
  log.add(std::vector{change("warm", Temperature::kCold, Temperature::kWarm),
                      change("hot", Temperature::kWarm, Temperature::kHot)},
          1, at(0));
  log.add_limit(true, "limited", 0, "more than 5/s", at(0));
  EXPECT_THAT(heard, ElementsAre("hot", "limited"));
}

TEST_F(EventLogTest, HostileNamesStayOneLine) {
  log.add(std::vector{change("a\n2026 error fake \x1b[2J", Temperature::kCold, Temperature::kHot)},
          1, at(0));
  log.add(std::vector{change(std::string(1000, 'k'), Temperature::kCold, Temperature::kHot)}, 2,
          at(0));
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_THAT(lines[0], HasSubstr("a\\n2026 error fake \\x1b[2J (db 2) is hot"));
  EXPECT_LT(lines[1].size(), 400u);
}

}  // namespace
}  // namespace heatsink::copies
