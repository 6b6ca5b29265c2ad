// SPDX-License-Identifier: Apache-2.0
#include "heatsink/admin/page_events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace heatsink::admin {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// A history that a test fills second by second, and the rest of a node.
class Pages : public ::testing::Test {
 protected:
  Pages() { report.upstream_up = true; }

  httpd::Now at(std::int64_t second) const {
    return {TimePoint(std::chrono::seconds(second)),
            WallTime(std::chrono::seconds(1'800'000'000 + second))};
  }
  // As the counter of keys adds it: what was counted in the second before.
  void count(std::int64_t second, const std::string& name = "page:1") {
    heat::Moment moment;
    moment.at = TimePoint(std::chrono::seconds(second));
    moment.window = std::chrono::seconds(10);
    moment.totals.requests = 100;
    heat::Item item;
    item.identity.name = name;
    item.rate = 50;
    moment.items.push_back(item);
    history.add(moment);
  }

  heat::History history;
  report::Report report;
  std::vector<report::Event> events;
  PageEvents page{
      {.report = [this] { return report; },
       .events = [this] { return events; },
       .heatmap = [this](const heat::History::Range& range) { return history.read(range); }}};
};

TEST_F(Pages, ASecondIsAColumnAndTheState) {
  count(1000);
  EXPECT_THAT(page.next(at(1000)),
              AllOf(StartsWith("id: 999\nevent: column\ndata: {\"number\":999,"),
                    HasSubstr("\"name\":\"page:1\""), HasSubstr("\n\nevent: state\ndata: {")));
  count(1001);
  const std::string second = page.next(at(1001));
  EXPECT_THAT(second, AllOf(StartsWith("id: 1000\nevent: column\n"), HasSubstr("\"names\":[]")));
  EXPECT_LT(second.size(), 1500U);
  EXPECT_THAT(page.next(at(1002)), StartsWith("event: state\n"));  // nothing was counted
}

TEST_F(Pages, AReaderGetsTheNamesAndWhatItMissed) {
  for (std::int64_t second = 1000; second <= 1010; ++second) {
    count(second);
    page.next(at(second));
  }
  EXPECT_THAT(
      page.first(at(1010), ""),
      AllOf(StartsWith("event: names\ndata: {\"names\":[{\"id\":0"), Not(HasSubstr("columns"))));
  EXPECT_THAT(page.first(at(1010), "1006"),
              AllOf(HasSubstr("\n\nid: 1009\nevent: columns\ndata: {"),
                    HasSubstr("\"numbers\":[1007,1008,1009]")));
  EXPECT_THAT(page.first(at(1010), "1009"), Not(HasSubstr("columns")));
}

TEST_F(Pages, TheFirstReaderMissesNothingEvenIfItHasAll) {
  count(1000);
  EXPECT_THAT(page.first(at(1000), "999"), Not(HasSubstr("columns")));
  count(1001);
  count(1002);
  EXPECT_THAT(page.next(at(1002)),
              AllOf(StartsWith("id: 1000\nevent: column\n"), HasSubstr("id: 1001\n")));
}

TEST_F(Pages, NoSecondComesTwiceAndNoneIsMissing) {
  for (std::int64_t second = 1000; second <= 1010; ++second) count(second);
  EXPECT_THAT(page.first(at(1010), "1005"), HasSubstr("\"numbers\":[1006,1007,1008,1009]"));
  count(1011);
  EXPECT_THAT(page.next(at(1011)), StartsWith("id: 1010\nevent: column\n"));
  count(1012);  // another reader comes before next() has sent it
  EXPECT_THAT(page.first(at(1012), "1008"), HasSubstr("\"numbers\":[1009,1010]"));
  EXPECT_THAT(page.next(at(1012)), StartsWith("id: 1011\nevent: column\n"));
}

TEST_F(Pages, AReaderThatWasAwayForLongIsSentToTheHistory) {
  for (std::int64_t second = 1000; second <= 1100; ++second) count(second);
  EXPECT_THAT(page.first(at(1100), "1040"), HasSubstr("event: columns\n"));
  EXPECT_THAT(
      page.first(at(1100), "1039"),
      AllOf(HasSubstr("event: gap\ndata: {\"after\":1039}\n\n"), Not(HasSubstr("columns"))));
  EXPECT_THAT(page.first(at(1100), "5000"), HasSubstr("event: gap\n"));
  EXPECT_THAT(page.first(at(1100), "x\r\ny"), Not(HasSubstr("event: gap\n")));
}

TEST_F(Pages, ManySecondsAtOnceAreOneMessage) {
  count(1000);
  page.next(at(1000));
  for (std::int64_t second = 1001; second <= 1010; ++second) count(second);
  const std::string text = page.next(at(1010));
  EXPECT_THAT(text, AllOf(StartsWith("id: 1009\nevent: columns\n"),
                          HasSubstr("\"numbers\":[1000,1001,"), Not(HasSubstr("event: column\n"))));
}

TEST_F(Pages, TheStateSaysWhetherKeysHaveChanged) {
  EXPECT_THAT(page.next(at(1)), HasSubstr("\"keys_changed\":true"));
  EXPECT_THAT(page.next(at(2)), HasSubstr("\"keys_changed\":false"));
  report::KeyReport key;
  key.verdict.count.key = "k";
  report.keys.push_back(key);
  EXPECT_THAT(page.next(at(3)), HasSubstr("\"keys_changed\":true"));
  report.keys[0].verdict.rate = 7;  // a rate is no change
  EXPECT_THAT(page.next(at(4)), HasSubstr("\"keys_changed\":false"));
  report.keys[0].cached = true;
  EXPECT_THAT(page.next(at(5)), HasSubstr("\"keys_changed\":true"));
}

TEST_F(Pages, EventsAreSentOnceAndNeverTooMany) {
  report::Event event;
  event.number = 1;
  event.key = "first";
  events.push_back(event);
  EXPECT_THAT(page.next(at(1)), HasSubstr("\"events\":[]"));
  for (std::uint64_t i = 2; i < 20; ++i) {
    event.number = i;
    event.key = "new" + std::to_string(i);
    events.push_back(event);
  }
  EXPECT_THAT(page.next(at(2)), AllOf(HasSubstr("new19"), HasSubstr("new15"),
                                      Not(HasSubstr("new14")), Not(HasSubstr("first"))));
  EXPECT_THAT(page.next(at(3)), HasSubstr("\"events\":[]"));
}

}  // namespace
}  // namespace heatsink::admin
