// SPDX-License-Identifier: Apache-2.0
#include "heatsink/alerts/conditions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heatsink/alerts/report_for_test.h"

namespace heatsink::alerts {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

policy::AlertOptions all_kinds() {
  policy::AlertOptions options;
  options.on = "hot,extremely-hot,write-hot,imbalance,hit-ratio,stale,server-down";
  return options;
}

std::vector<std::string> kinds_of(const std::vector<Alert>& alerts) {
  std::vector<std::string> out;
  out.reserve(alerts.size());
  for (const Alert& alert : alerts) out.emplace_back(to_string(alert.kind));
  return out;
}

TEST(Conditions, ACalmNodeIsNoAlert) {
  Conditions conditions(all_kinds());
  EXPECT_THAT(conditions.observe(calm_report(), at_second(1)), IsEmpty());
}

TEST(Conditions, AKeyIsHotOrExtremelyHotByItsShareOrItsRate) {
  policy::AlertOptions options = all_kinds();
  options.extremely_hot_qps = 1000;
  Conditions conditions(options);
  report::Report report = calm_report();
  report.keys = {hot_key("slow", 999, 0.24), hot_key("often", 1000, 0.01),
                 hot_key("much", 10, 0.25)};
  const std::vector<Alert> found = conditions.observe(report, at_second(1));
  // What is extremely hot comes first, so that a limit on new alerts lets it through.
  EXPECT_THAT(kinds_of(found), ElementsAre("extremely-hot", "extremely-hot", "hot"));
  EXPECT_EQ(found[0].subject, "often");
  EXPECT_EQ(found[0].summary, "often is extremely hot: 1000/s, 1.0 % of the traffic");
  EXPECT_EQ(found[0].rate, 1000);
  EXPECT_EQ(found[0].since, at_second(7));
  EXPECT_EQ(found[2].summary, "slow is hot: 999/s, 24.0 % of the traffic");
  EXPECT_THAT(found[0].advice, HasSubstr("heatsink explain -- 'often'"));
}

TEST(Conditions, OnlyKindsThatAreOnCount) {
  policy::AlertOptions options;
  options.on = "hot";
  Conditions conditions(options);
  report::Report report = calm_report();
  report.keys = {hot_key("k", 1000, 0.9)};
  EXPECT_THAT(kinds_of(conditions.observe(report, at_second(1))), ElementsAre("hot"));
  options.on = "extremely-hot";
  conditions.set(options);
  EXPECT_THAT(kinds_of(conditions.observe(report, at_second(2))), ElementsAre("extremely-hot"));
  options.on = "stale";
  conditions.set(options);
  EXPECT_THAT(conditions.observe(report, at_second(3)), IsEmpty());
}

TEST(Conditions, WarmKeysAreNoAlertAndWrittenOnesAreOfTheirOwnKind) {
  Conditions conditions(all_kinds());
  report::Report report = calm_report();
  report.keys = {hot_key("warm", 1000, 0.9), hot_key("written\n", 100, 0.1)};
  report.keys[0].verdict.temperature = detect::Temperature::kWarm;
  report.keys[1].verdict.temperature = detect::Temperature::kWriteHot;
  report.keys[1].verdict.count.db = 3;
  const std::vector<Alert> found = conditions.observe(report, at_second(1));
  EXPECT_THAT(kinds_of(found), ElementsAre("write-hot"));
  EXPECT_THAT(found[0].summary, HasSubstr("written\\n (database 3) is write-hot"));
}

TEST(Conditions, AServerHasToBeAwayForSomeTime) {
  Conditions conditions(all_kinds());
  report::Report report = calm_report();
  report.upstream_up = false;
  report.upstream_problem = "cannot connect: Connection refused";
  EXPECT_THAT(conditions.observe(report, at_second(10)), IsEmpty());
  EXPECT_THAT(conditions.observe(report, at_second(14)), IsEmpty());
  const std::vector<Alert> found = conditions.observe(report, at_second(15));
  EXPECT_THAT(kinds_of(found), ElementsAre("server-down"));
  EXPECT_EQ(found[0].since, at_second(10));
  EXPECT_THAT(found[0].summary, HasSubstr("127.0.0.1:6379 cannot be reached: cannot connect"));
  report.upstream_up = true;
  EXPECT_THAT(conditions.observe(report, at_second(16)), IsEmpty());
  report.upstream_up = false;
  EXPECT_THAT(conditions.observe(report, at_second(17)), IsEmpty());
}

TEST(Conditions, StaleCopiesCountFromTheFirstReportOn) {
  Conditions conditions(all_kinds());
  report::Report report = calm_report();
  report.stale_confirmed = 2;
  EXPECT_THAT(conditions.observe(report, at_second(1)), IsEmpty());
  report.stale_confirmed = 3;
  const std::vector<Alert> found = conditions.observe(report, at_second(2));
  EXPECT_THAT(kinds_of(found), ElementsAre("stale"));
  EXPECT_THAT(found[0].summary, HasSubstr("1 local copy was proven stale (since the start: 3)"));
  EXPECT_THAT(conditions.observe(report, at_second(3)), IsEmpty());
  // A count that falls and comes back is no news.
  report.stale_confirmed = 0;
  EXPECT_THAT(conditions.observe(report, at_second(4)), IsEmpty());
  report.stale_confirmed = 3;
  EXPECT_THAT(conditions.observe(report, at_second(5)), IsEmpty());
}

TEST(Conditions, AKeyIsTheSameAlertInEveryProcess) {
  report::Report report = calm_report();
  report.keys = {hot_key("k", 1000, 0.9), hot_key(std::string(1024, 'x'), 1000, 0.5)};
  report.keys[1].verdict.count.key_truncated = true;
  report.keys[1].verdict.count.digest = 77;
  std::vector<std::string> before;
  for (const std::uint64_t seed : {1U, 2U}) {
    for (report::KeyReport& key : report.keys) key.verdict.count.hash = KeyHash{seed};
    std::vector<std::string> identities;
    for (const Alert& alert : Conditions(all_kinds()).observe(report, at_second(1)))
      identities.push_back(alert.identity());
    EXPECT_EQ(identities.size(), 2U);
    if (!before.empty()) {
      EXPECT_EQ(identities, before);
    }
    before = identities;
  }
}

TEST(Conditions, ACommandToCopyIsOneOfThisKeyOnly) {
  Conditions conditions(all_kinds());
  report::Report report = calm_report();
  report.keys = {hot_key("a'; reboot #", 1000, 0.5), hot_key(std::string(1024, 'x'), 1000, 0.5),
                 hot_key(std::string(1024, 'x'), 1000, 0.5)};
  report.keys[0].verdict.count.db = 3;
  for (const std::size_t i : {1U, 2U}) {
    report.keys[i].verdict.count.key_truncated = true;
    report.keys[i].verdict.count.hash = KeyHash{i};
  }
  const std::vector<Alert> found = conditions.observe(report, at_second(1));
  ASSERT_THAT(found, ::testing::SizeIs(3));
  EXPECT_THAT(found[0].advice, HasSubstr("heatsink explain --db 3 -- 'a'\\''; reboot #'"));
  EXPECT_THAT(found[1].advice, ::testing::Not(HasSubstr("heatsink explain")));
  EXPECT_EQ(found[1].subject, found[2].subject);
  EXPECT_NE(found[1].identity(), found[2].identity());
}

report::SlotsReport::Node node_of(const char* name, double load) {
  report::SlotsReport::Node node;
  node.name = name;
  node.load = load;
  return node;
}

TEST(Conditions, ANodeOutOfBalanceIsNamedAfterAMinute) {
  Conditions conditions(all_kinds());
  report::Report report = calm_report();
  report.slots.emplace();
  report.slots->nodes = {node_of("10.0.0.1:7000", 100), node_of("10.0.0.2:7000", 500),
                         node_of("10.0.0.3:7000", 100)};
  EXPECT_THAT(conditions.observe(report, at_second(0)), IsEmpty());
  EXPECT_THAT(conditions.observe(report, at_second(59)), IsEmpty());
  const std::vector<Alert> found = conditions.observe(report, at_second(60));
  EXPECT_THAT(kinds_of(found), ElementsAre("imbalance"));
  EXPECT_EQ(found[0].subject, "10.0.0.2:7000");
  EXPECT_THAT(found[0].summary, HasSubstr("2.1 times the mean load of the 3 nodes"));
  report.slots->nodes[1].load = 130;
  EXPECT_THAT(conditions.observe(report, at_second(61)), IsEmpty());
}

TEST(Conditions, LittleLoadIsNeverOutOfBalance) {
  Conditions conditions(all_kinds());
  report::Report report = calm_report();
  report.slots.emplace();
  report.slots->nodes = {node_of("a:1", 0), node_of("b:1", 99)};
  for (int second = 0; second < 100; ++second)
    ASSERT_THAT(conditions.observe(report, at_second(second)), IsEmpty());
}

class HitRatioFalls : public ::testing::Test {
 protected:
  std::vector<Alert> second(double ratio, double reads = 1000) {
    report::Report report = calm_report();
    report.reads_rate = reads;
    report.hit_ratio = ratio;
    return conditions.observe(report, at_second(++now));
  }

  Conditions conditions{all_kinds()};
  int now = 0;
};

TEST_F(HitRatioFalls, AfterAnHourOfHits) {
  for (int i = 0; i < 3600; ++i) ASSERT_THAT(second(0.8), IsEmpty());
  int quiet = 0;
  std::vector<Alert> found;
  while ((found = second(0.2)).empty() && quiet < 300) ++quiet;
  // The mean of half a minute must pass the half, and stay there for a minute.
  EXPECT_GT(quiet, 60);
  EXPECT_LT(quiet, 120);
  EXPECT_THAT(kinds_of(found), ElementsAre("hit-ratio"));
  EXPECT_THAT(found[0].summary, HasSubstr("of the reads; the mean of the last hour is 7"));
  // A lasting change becomes usual.
  for (int i = 0; i < 7200; ++i) found = second(0.2);
  EXPECT_THAT(found, IsEmpty());
}

TEST_F(HitRatioFalls, NotBeforeItIsKnownAndNotWithoutTraffic) {
  for (int i = 0; i < 300; ++i) second(0.8);
  for (int i = 0; i < 200; ++i) ASSERT_THAT(second(0.1), IsEmpty());
  for (int i = 0; i < 3600; ++i) second(0.8);
  for (int i = 0; i < 200; ++i) ASSERT_THAT(second(0, 50), IsEmpty());
}

}  // namespace
}  // namespace heatsink::alerts
