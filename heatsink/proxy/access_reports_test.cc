// SPDX-License-Identifier: Apache-2.0
#include "heatsink/proxy/access_reports.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "heatsink/relief/testing/relief_fixture.h"

namespace heatsink::proxy {
namespace {

class AccessReportsTest : public ReliefTest {
 protected:
  AccessReportsTest() {
    options.workers = 1;
    options.hot_qps = 100;  // urgent at 25 % of 1000 accesses
  }
  void begin() {
    start();
    pass(Nanos(0));  // the loop reads its clock
    reports.emplace(*shared, loop,
                    [this](const std::vector<detect::Summary>& summaries, bool urgent) {
                      requests.push_back(summaries.at(0).requests);
                      keys.push_back(summaries.at(0).keys.size());
                      urgent_reports += urgent ? 1 : 0;
                    });
  }
  void count_accesses(int times) {
    for (int i = 0; i < times; ++i)
      reports->counter()->record({.hash = KeyHash{7}, .key = "k"}, loop.now());
  }

  // Of each report:
  std::vector<std::uint64_t> requests;
  std::vector<std::size_t> keys;
  int urgent_reports = 0;
  std::optional<AccessReports> reports;
};

TEST_F(AccessReportsTest, EachTickReports) {
  begin();
  EXPECT_TRUE(reports->is_quiet());
  count_accesses(20);
  reports->end_turn();
  EXPECT_TRUE(requests.empty()) << "no key is urgent";
  reports->tick();
  EXPECT_EQ(requests, std::vector<std::uint64_t>{20});
  EXPECT_FALSE(reports->is_quiet());
  pass(std::chrono::hours(1));
  reports->tick();
  EXPECT_EQ(requests.back(), 0U);
  EXPECT_TRUE(reports->is_quiet());
  EXPECT_EQ(urgent_reports, 0);
}

TEST_F(AccessReportsTest, AnUrgentKeyIsReportedAtTheEndOfTheTurnButNotTooOften) {
  begin();
  count_accesses(250);
  reports->end_turn();
  EXPECT_EQ(urgent_reports, 1);
  count_accesses(250);
  reports->end_turn();
  EXPECT_EQ(urgent_reports, 1);
  pass(AccessCounter::kUrgentPause);
  reports->end_turn();  // of the turn that the timer began
  EXPECT_EQ(urgent_reports, 2);
}

TEST_F(AccessReportsTest, WithoutDetectionNothingIsReported) {
  options.detection_enabled = false;
  begin();
  reports->follow_policy();
  reports->tick();
  reports->end_turn();
  EXPECT_EQ(reports->counter(), nullptr);
  EXPECT_EQ(reports->reply_sizes(), nullptr);
  EXPECT_EQ(reports->command_numbers(), nullptr);
  EXPECT_EQ(reports->memory_bytes(), 0U);
  EXPECT_TRUE(requests.empty());
}

// A key that is warm in the fleet has a tenth of its accesses here.
TEST_F(AccessReportsTest, InALargerFleetAKeyIsNamedEarlier) {
  options.warm_qps = 50;
  begin();
  count_accesses(20);
  reports->tick();
  EXPECT_EQ(keys.back(), 0U);
  shared->fleet_instances = 10;
  reports->tick();
  count_accesses(20);
  reports->tick();
  EXPECT_EQ(keys.back(), 1U);
}

}  // namespace
}  // namespace heatsink::proxy
