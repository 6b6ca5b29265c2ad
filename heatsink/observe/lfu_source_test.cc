// SPDX-License-Identifier: Apache-2.0
#include "heatsink/observe/lfu_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "heatsink/observe/scripted_server_for_test.h"
#include "heatsink/resp/key_slot.h"

namespace heatsink::observe {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

// A server with 1000 keys in db 0 and 100 in db 3; key i of db 0 has counter i / 4, at most 255.
class LfuServer {
 public:
  std::string answer(const ScriptedServer::Args& args) {
    if (!refused_.empty() && args[0] == refused_) return "-NOPERM may not\r\n";
    if (args[0] == "INFO" && args[1] == "keyspace")
      return bulk("db0:keys=1000,expires=0\r\ndb3:keys=100,expires=0\r\n");
    if (args[0] == "INFO" && args[1] == "cluster")
      return bulk(is_cluster_ ? "cluster_enabled:1\r\n" : "cluster_enabled:0\r\n");
    if (args[0] == "INFO") return bulk("maxmemory_policy:" + policy_ + "\r\n");
    if (args[0] == "CONFIG")
      return list({bulk(args[2]), bulk(args[2] == "maxmemory-policy" ? policy_
                                       : args[2] == "lfu-log-factor" ? "10"
                                                                     : "1")});
    if (args[0] == "SELECT") {
      db_ = std::stoi(args[1]);
      return "+OK\r\n";
    }
    if (args[0] == "SCAN") return scan(std::stoi(args[1]), std::stoi(args[3]));
    EXPECT_EQ(args[0], "OBJECT");
    if (counters_ == counters_max_) return "";
    ++counters_;
    return ":" + std::to_string(counter(db_, std::stoi(args[2].substr(2)))) + "\r\n";
  }

  static int counter(int db, int key) { return db == 0 ? std::min(key / 4, 255) : 7; }

  // Of the estimates of all keys, by slot.
  static std::map<int, double> sums() {
    std::map<int, double> out;
    for (const auto& [db, keys] : {std::pair(0, 1000), std::pair(3, 100)})
      for (int i = 0; i < keys; ++i)
        out[resp::key_slot("k:" + std::to_string(i))] += lfu_rate(counter(db, i), {}).rate;
    return out;
  }

  std::string scan(int cursor, int count) const {
    const int all = db_ == 0 ? 1000 : 100;
    const int end = std::min(cursor + count, all);
    std::vector<std::string> keys;
    for (int i = cursor; i < end; ++i) keys.push_back(bulk("k:" + std::to_string(i)));
    return list({bulk(end == all ? "0" : std::to_string(end)), list(keys)});
  }

  int db_ = 0, counters_ = 0, counters_max_ = 1'000'000;
  bool is_cluster_ = false;
  std::string policy_ = "allkeys-lfu", refused_;
};

class LfuSourceTest : public testing::Test {
 protected:
  LfuSourceOptions options() {
    LfuSourceOptions options;
    options.server = "here:6379";
    options.keys_per_second = 1000;
    options.keep = [this](const std::string& text) { kept_.push_back(text); };
    return options;
  }
  void start(LfuSourceOptions options) {
    source_ = std::make_unique<LfuSource>(std::move(options));
    server_ = std::make_unique<ScriptedServer>(
        *source_,
        [this](std::size_t, const ScriptedServer::Args& args) { return script_.answer(args); });
  }
  Observation seen() { return source_->observe(server_->now()); }
  // The busiest slots have the sums of the estimates of all keys, each key once.
  void expect_all_sums() {
    const std::map<int, double> sums = LfuServer::sums();
    const std::vector<SlotSeen> slots = seen().slots;
    ASSERT_EQ(slots.size(), LfuSlots::kTold);
    for (const SlotSeen& slot : slots) EXPECT_NEAR(slot.rate, sums.at(slot.slot), 1e-6);
    const auto busiest =
        std::ranges::max_element(sums, {}, [](const auto& sum) { return sum.second; });
    EXPECT_NEAR(slots.front().rate, busiest->second, 1e-6);
  }

  LfuServer script_;
  std::vector<std::string> kept_;
  std::unique_ptr<LfuSource> source_;
  std::unique_ptr<ScriptedServer> server_;
};

TEST_F(LfuSourceTest, AsksForTheFirstKeyBeforeTheScanAndListsItThoughOthersHaveMore) {
  LfuSourceOptions first = options();
  first.first_key = "k:5";
  first.first_db = 0;
  start(first);
  server_->run_for(Millis(30));
  const auto has_row = [](const Observation& seen) {
    return std::ranges::any_of(seen.report.keys, [](const report::KeyReport& row) {
      return row.verdict.count.key == "k:5" && row.verdict.count.db == 0;
    });
  };
  EXPECT_TRUE(has_row(seen()));
  EXPECT_LE(script_.counters_, 101);
  server_->run_for(Millis(1400));
  EXPECT_EQ(seen().state, SourceState::kFinished);
  EXPECT_TRUE(has_row(seen()));
  EXPECT_EQ(seen().report.keys.size(), kRowsMax);
}

TEST_F(LfuSourceTest, SaysThatNothingIsHotOnlyWhenAllKeysWereScanned) {
  start(options());
  server_->run_for(Millis(600));
  EXPECT_THAT(seen().report.undecided, HasSubstr("% of the keys scanned so far"));
  server_->run_for(Millis(800));
  EXPECT_EQ(seen().report.undecided, "");
}

TEST_F(LfuSourceTest, ScansAllDatabasesAtItsPaceAndOrdersByCounter) {
  start(options());
  server_->run_for(Millis(600));
  EXPECT_NEAR(seen().progress, 0.6, 0.15);
  EXPECT_EQ(seen().state, SourceState::kRunning);
  EXPECT_FALSE(seen().report.absent_max);
  server_->run_for(Millis(800));
  const Observation all = seen();
  EXPECT_EQ(all.state, SourceState::kFinished);
  EXPECT_EQ(all.progress, 1);
  EXPECT_EQ(script_.counters_, 1100);
  ASSERT_EQ(all.report.keys.size(), kRowsMax);
  const detect::Verdict& top = all.report.keys[0].verdict;
  EXPECT_EQ(top.count.key, "k:996");  // the first of those with 249
  EXPECT_NEAR(top.rate, (10 * (249 - 5) + 1) / 60.0, 0.01);
  EXPECT_EQ(top.rate_low, 0);
  EXPECT_EQ(top.rate_high, lfu_rate(249, LfuSettings()).high);
  ASSERT_TRUE(all.interval);  // from a decay-time before the first look to the last look
  EXPECT_NEAR(static_cast<double>((all.interval->until - all.interval->since).count()),
              60e9 + 1.1e9, 0.3e9);
  // The hundred and first, which is not listed.
  ASSERT_TRUE(all.report.absent_max);
  EXPECT_EQ(*all.report.absent_max, lfu_rate(249 - 25, LfuSettings()).high);
  EXPECT_THAT(top.reason, HasSubstr("counter 249 of 255"));
  EXPECT_TRUE(kept_.back().empty());
}

TEST_F(LfuSourceTest, GoesOnWhereItWas) {
  LfuSourceOptions slow = options();
  slow.keys_per_second = 500;
  start(slow);
  server_->run_for(Millis(1500));
  ASSERT_FALSE(kept_.empty());
  const std::string kept = kept_.back();
  const int before = script_.counters_;
  EXPECT_GT(before, 100);
  LfuSourceOptions again = options();
  again.resume_from = kept;
  script_.counters_ = 0;
  start(again);
  server_->run_for(seconds(3));
  EXPECT_EQ(seen().state, SourceState::kFinished);
  EXPECT_LT(script_.counters_, 1100 - before + 300);
  EXPECT_EQ(seen().report.keys[0].verdict.count.key, "k:996");
}

TEST_F(LfuSourceTest, WhatIsNoScanOfThisServerIsNotResumed) {
  for (const char* text : {"nonsense", "heatsink-lfu-scan-2 00 0 5 5 -",
                           "heatsink-lfu-scan-2 686572653a36333739 9 5 5 -",
                           "heatsink-lfu-scan-2 686572653a36333739 0 5x 5 -",
                           "heatsink-lfu-scan-1 686572653a36333739 0 5 5",
                           "heatsink-lfu-scan-2 686572653a36333739 0 5 5",
                           "heatsink-lfu-scan-2 686572653a36333739 0 5 5 0"}) {
    LfuSourceOptions bad = options();
    bad.resume_from = text;
    start(bad);
    server_->run_for(Millis(100));
    EXPECT_EQ(seen().state, SourceState::kFailed) << text;
  }
}

TEST_F(LfuSourceTest, OutsideOfAClusterThereAreNoSlots) {
  start(options());
  server_->run_for(seconds(2));
  EXPECT_EQ(seen().state, SourceState::kFinished);
  EXPECT_TRUE(seen().slots.empty());
}

TEST_F(LfuSourceTest, InAClusterSlotsAreTheSumsOfAllTheirKeys) {
  script_.is_cluster_ = true;
  start(options());
  script_.counters_max_ = 980;
  server_->run_for(Millis(1200));
  EXPECT_FALSE(seen().slots.empty());
  server_->cut(0);  // within a batch, which is asked again and counts once
  script_.counters_max_ = 1'000'000;
  server_->run_for(seconds(2));
  EXPECT_EQ(seen().state, SourceState::kFinished);
  expect_all_sums();
}

TEST_F(LfuSourceTest, AScanThatGoesOnHasTheSumsOfBothParts) {
  script_.is_cluster_ = true;
  LfuSourceOptions slow = options();
  slow.keys_per_second = 500;
  start(slow);
  server_->run_for(Millis(1500));
  ASSERT_FALSE(kept_.empty());
  LfuSourceOptions again = options();
  again.resume_from = kept_.back();
  start(again);
  server_->run_for(seconds(3));
  EXPECT_EQ(seen().state, SourceState::kFinished);
  expect_all_sums();
}

TEST_F(LfuSourceTest, AScanWithoutSlotsIsNotResumedWithThem) {
  script_.is_cluster_ = true;
  LfuSourceOptions bad = options();
  bad.resume_from = "heatsink-lfu-scan-2 686572653a36333739 0 5 5 -";
  start(bad);
  server_->run_for(Millis(100));
  EXPECT_EQ(seen().state, SourceState::kFailed);
}

TEST_F(LfuSourceTest, AnotherPolicyIsToldWithWhatToDo) {
  script_.policy_ = "noeviction";
  start(options());
  server_->run_for(Millis(100));
  EXPECT_EQ(seen().state, SourceState::kFailed);
  EXPECT_THAT(seen().note, HasSubstr("CONFIG SET maxmemory-policy allkeys-lfu"));
  EXPECT_THAT(seen().note, HasSubstr("now: noeviction"));
}

TEST_F(LfuSourceTest, WhereConfigIsForbiddenTheUsualIsAssumedAndSaid) {
  script_.refused_ = "CONFIG";
  start(options());
  server_->run_for(seconds(2));
  EXPECT_EQ(seen().state, SourceState::kFinished);
  EXPECT_THAT(seen().facts.confidence, HasSubstr("assumed"));
}

TEST_F(LfuSourceTest, WhereScanIsForbiddenThatIsTold) {
  script_.refused_ = "SCAN";
  start(options());
  server_->run_for(seconds(1));
  EXPECT_EQ(seen().state, SourceState::kFailed);
  EXPECT_THAT(seen().note, HasSubstr("refuses SCAN"));
}

TEST_F(LfuSourceTest, ALostConnectionCostsNoKey) {
  start(options());
  server_->run_for(Millis(300));
  server_->cut(0);
  EXPECT_EQ(seen().note, "");
  server_->run_for(seconds(2));
  EXPECT_EQ(seen().state, SourceState::kFinished);
  EXPECT_GE(script_.counters_, 1100);
}

}  // namespace
}  // namespace heatsink::observe
