// SPDX-License-Identifier: Apache-2.0
#include "heatsink/fleet/member.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "heatsink/fleet/bounds.h"
#include "heatsink/fleet/fleet_for_test.h"
#include "heatsink/fleet/testing/memory_server.h"

namespace heatsink::fleet {
namespace {

using testing::HasSubstr;

class FleetMember : public testing::Test {
 protected:
  void start(std::size_t count, std::uint64_t shards = 1) {
    for (std::size_t i = 0; i < count; ++i) {
      MemberOptions options;
      options.id = "m" + std::to_string(members.size());
      options.shards = shards;
      options.seed = kSeedForTest;
      options.random_seed = members.size();
      members.push_back(std::make_unique<Member>(options, server));
      counts.push_back({{"sale", 10}});
    }
  }

  void run(Nanos time) {
    for (const TimePoint end = now + time; now < end; now += Millis(5)) {
      server.deliver(now);
      for (std::size_t i = 0; i < members.size(); ++i) {
        if (!members[i] || members[i]->due() > now) continue;
        std::vector<detect::Summary> windows;
        if (members[i]->needs_counts(now)) windows = {window_for_test(counts[i], 1000)};
        members[i]->turn(now, windows);
      }
    }
  }

  std::size_t mergers() const {
    std::size_t count = 0;
    for (const auto& member : members) count += member && member->merges() ? 1U : 0U;
    return count;
  }
  std::uint64_t sum(std::size_t member, const std::string& key) const {
    const List list = members[member]->list(now);
    if (!list || list->windows.empty()) return 0;
    const detect::KeyCount* const found = find_for_test(list->windows[0], key);
    return found == nullptr ? 0 : found->low;
  }

  TimePoint now{std::chrono::seconds(100)};
  MemoryServer server;
  std::vector<std::unique_ptr<Member>> members;
  std::vector<CountsForTest> counts;
};

TEST_F(FleetMember, AllReadTheSumOfAllWithinASecondAndOneMerges) {
  start(20);
  run(std::chrono::seconds(3));
  EXPECT_EQ(mergers(), 1U);
  for (std::size_t i = 0; i < members.size(); ++i) {
    EXPECT_EQ(sum(i, "sale"), 200U);
    EXPECT_EQ(members[i]->instances(), 20U);
  }
  for (CountsForTest& each : counts) each.emplace_back("new", 7);
  run(std::chrono::seconds(1));
  for (std::size_t i = 0; i < members.size(); ++i) EXPECT_EQ(sum(i, "new"), 140U);
}

TEST_F(FleetMember, AnInstanceThatEndsLeavesTheSumAndAnotherMerges) {
  start(5);
  run(std::chrono::seconds(3));
  for (auto& member : members) {
    if (!member->merges()) continue;
    member.reset();  // while it has asked nothing
    break;
  }
  run(std::chrono::seconds(6));
  EXPECT_EQ(mergers(), 1U);
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (!members[i]) continue;
    EXPECT_EQ(sum(i, "sale"), 40U);
  }
}

TEST_F(FleetMember, AFarewellEndsItsPartOfTheSumWithTheNextMerge) {
  start(20);
  run(std::chrono::seconds(3));
  const auto leaving = std::find_if(members.begin(), members.end(),
                                    [](const auto& member) { return !member->merges(); });
  (*leaving)->farewell();
  run(Millis(1));  // its answers
  leaving->reset();
  const std::size_t other = leaving == members.begin() ? 1 : 0;
  run(Millis(600));  // a report would have lived for 1.5 s
  EXPECT_EQ(sum(other, "sale"), 190U);
  EXPECT_EQ(members[other]->instances(), 19U);
  EXPECT_EQ(server.members(Names("default").members(0)).size(), 19U);
}

TEST_F(FleetMember, AFarewellToAServerThatFailedAsksNothing) {
  start(1);
  run(std::chrono::seconds(2));
  server.fault = "-";
  run(std::chrono::seconds(1));
  const std::uint64_t before = server.commands;
  members[0]->farewell();
  EXPECT_EQ(server.commands, before);
}

TEST_F(FleetMember, ShardsAreSummedToOneList) {
  start(30, 4);
  run(std::chrono::seconds(8));
  for (std::size_t i = 0; i < members.size(); ++i) {
    EXPECT_EQ(sum(i, "sale"), 300U);
    EXPECT_EQ(members[i]->instances(), 30U);
  }
}

TEST_F(FleetMember, LargeFleetsReportLessOften) {
  start(1000);
  run(std::chrono::seconds(6));
  EXPECT_EQ(members[0]->list(now)->step, std::chrono::seconds(16));
  EXPECT_EQ(members[0]->list(now)->refresh, Millis(5000));
  const auto reports = [&] {
    std::uint64_t sum = 0;
    for (const auto& member : members) sum += member->counts().reports;
    return sum;
  };
  const std::uint64_t before = reports();
  run(std::chrono::seconds(50));
  EXPECT_NEAR(static_cast<double>(reports() - before), 50 * 62, 50 * 8);
  EXPECT_EQ(members[0]->counts().urgent, 0U) << "nothing has changed";
  EXPECT_EQ(sum(0, "sale"), 10'000U);
}

TEST_F(FleetMember, AChangeThatMattersDoesNotWaitForTheStep) {
  start(400);  // a step of 5 s
  run(std::chrono::seconds(12));
  for (CountsForTest& each : counts) each.emplace_back("new", 20);
  run(Millis(1000));
  std::size_t knowing = 0;
  for (std::size_t i = 0; i < members.size(); ++i) knowing += sum(i, "new") > 4000 ? 1U : 0U;
  EXPECT_GE(knowing, members.size() * 9 / 10);
  // A key that cools down is as urgent.
  for (CountsForTest& each : counts) each.pop_back();
  run(Millis(1000));
  knowing = 0;
  for (std::size_t i = 0; i < members.size(); ++i) knowing += sum(i, "new") < 4000 ? 1U : 0U;
  EXPECT_GE(knowing, members.size() * 9 / 10);
}

TEST_F(FleetMember, RestlessCountsMakeNoMoreThanOneUrgentReportPerStep) {
  start(400);
  run(std::chrono::seconds(12));
  const std::uint64_t before = members[0]->counts().urgent;
  for (std::uint64_t i = 0; i < 200; ++i) {
    counts[0] = {{"sale", i % 2 == 0 ? 1000U : 10U}};
    run(Millis(250));
  }
  // 50 s: ten steps, and those that were allowed at once.
  EXPECT_GE(members[0]->counts().urgent - before, 8U);
  EXPECT_LE(members[0]->counts().urgent - before, 10U + kUrgentAtOnce + 1);
}

TEST_F(FleetMember, AMergerThatEndsIsReplacedLongBeforeAStep) {
  start(400);
  run(std::chrono::seconds(12));
  for (auto& member : members) {
    if (!member->merges()) continue;
    member.reset();
    break;
  }
  run(std::chrono::seconds(8));
  EXPECT_EQ(mergers(), 1U);
  run(std::chrono::seconds(12));  // the report of the one that has ended is gone
  EXPECT_EQ(members[1]->instances(), 399U) << "the set of members is still there";
}

TEST_F(FleetMember, ARefusalIsAProblemAndTheListEndsSoon) {
  start(2);
  run(std::chrono::seconds(2));
  ASSERT_TRUE(members[0]->list(now));
  server.fault = "OOM command not allowed when used memory > 'maxmemory'.";
  server.is_faulty = [](const auto& words) { return words[0] == "SET" || words[0] == "SADD"; };
  run(std::chrono::seconds(5));
  EXPECT_FALSE(members[0]->list(now));
  EXPECT_THAT(members[0]->problem(), HasSubstr("cannot report to its fleet: OOM"));
  EXPECT_EQ(members[0]->instances(), 2U);  // what it knew last
  server.fault.clear();
  run(std::chrono::seconds(3));
  EXPECT_TRUE(members[0]->list(now));
  EXPECT_EQ(members[0]->problem(), "");
}

TEST_F(FleetMember, AServerThatDoesNotAnswerGetsNoMoreQuestions) {
  start(1);
  run(std::chrono::seconds(2));
  server.latency = std::chrono::hours(1);
  const std::uint64_t before = server.commands;
  run(std::chrono::seconds(20));
  EXPECT_LE(server.commands - before, 10U);
  EXPECT_GT(members[0]->counts().late, 50U);
  EXPECT_FALSE(members[0]->list(now));
}

TEST_F(FleetMember, RubbishIsCountedAndIgnored) {
  start(3);
  const Names names("default");
  server.members(names.members(0)).insert("evil");
  for (int i = 0; i < 8; ++i) {
    server.members(names.members(0)).insert("evil");
    server.set(names.report(0, "evil"), std::string(100'000, 'x'));
    server.set(names.list(0), "HFlt rubbish");
    run(Millis(500));
  }
  run(std::chrono::seconds(1));
  std::uint64_t broken = 0;
  for (const auto& member : members) broken += member->counts().merger.broken;
  EXPECT_GT(broken, 8U);
  EXPECT_EQ(sum(0, "sale"), 30U);
}

TEST_F(FleetMember, ADeadInstanceLeavesTheSet) {
  start(2);
  const Names names("default");
  server.members(names.members(0)).insert("gone");
  run(std::chrono::seconds(2));
  EXPECT_FALSE(server.members(names.members(0)).contains("gone"));
  EXPECT_EQ(server.members(names.members(0)).size(), 2U);
}

TEST(FleetNames, AreInOneSlotForEachShardAndOurs) {
  const Names names("shop");
  EXPECT_EQ(names.report(3, "a1"), "heatsink:fleet:{shop:3}:at:a1");
  EXPECT_EQ(names.all_list(), "heatsink:fleet:{shop:all}:list");
  EXPECT_TRUE(is_own_key(names.members(0)));
  EXPECT_TRUE(is_own_key("heatsink:heartbeat"));
  EXPECT_FALSE(is_own_key("heatsink:limit:x"));
}

}  // namespace
}  // namespace heatsink::fleet
