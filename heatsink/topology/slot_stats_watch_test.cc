// SPDX-License-Identifier: Apache-2.0
#include "heatsink/topology/slot_stats_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <utility>

#include "heatsink/topology/replies_for_test.h"

namespace heatsink::topology {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;
using State = NodeUsage::State;

constexpr NodeIndex kFirst = 4, kSecond = 2;

// Two masters with half of the slots each, which answer at once.
class SlotStatsWatchTest : public testing::Test, public SlotStatsWatch::Asker {
 protected:
  SlotStatsWatchTest() {
    auto map = std::make_shared<SlotMap>();
    for (const NodeIndex node : {kFirst, kSecond}) {
      SlotMap::Shard& shard = map->shards.emplace_back();
      shard.master = node;
    }
    for (std::size_t slot = 0; slot < resp::kSlots; ++slot)
      map->owners[slot] = slot < resp::kSlots / 2 ? kFirst : kSecond;
    map_ = std::move(map);
  }

  void ask_stats(NodeIndex node, std::uint16_t first, std::uint16_t last) override {
    ++questions_[node];
    EXPECT_EQ(last - first + 1, SlotStatsWatch::kPartSlots);
    due_.emplace_back(
        [this, node, first, last] { watch_.stats(node, stats(node, first, last), now_); });
  }
  void ask_totals(NodeIndex node) override {
    due_.emplace_back([this, node] { watch_.totals(node, totals_of(node), now_); });
  }
  Result<resp::Value> totals_of(NodeIndex node) const {
    if (lost_ == node) return Error{ErrorCode::kUnavailable, "connection refused"};
    return text("used_cpu_sys:" + std::to_string(process_s_) + "\r\nused_cpu_user:0.0\r\n" +
                "total_commands_processed:" + std::to_string(commands_) + "\r\n");
  }
  Result<resp::Value> stats(NodeIndex node, std::uint16_t first, std::uint16_t last) {
    if (lost_ == node) return Error{ErrorCode::kUnavailable, "connection refused"};
    if (!error_.empty()) return error_reply(error_);
    resp::Value out = list({});
    for (std::size_t slot = first; slot <= last; ++slot) {
      if (map_->owners[slot] != node) continue;
      resp::Value counters = list({text("key-count"), number(1)});
      if (counts_)
        counters.items.insert(counters.items.end(),
                              {text("cpu-usec"), number(cpu_us_[slot]), text("network-bytes-in"),
                               number(2 * cpu_us_[slot])});
      out.items.push_back(list({number(static_cast<std::int64_t>(slot)), std::move(counters)}));
    }
    return out;
  }

  void run(Nanos time) {
    for (const TimePoint end = now_ + time; now_ < end; now_ += Millis(100)) {
      watch_.tick(now_, map_, pause_);
      while (!due_.empty())
        for (const auto& answer : std::exchange(due_, {})) answer();
    }
  }
  void look_and_run(Nanos time) {
    board_.look(now_);
    run(time);
  }
  NodeUsage of(NodeIndex node) {
    const auto usage = board_.look(now_);
    return usage == nullptr ? NodeUsage() : usage->nodes.at(node);
  }
  std::string why() {
    return why_not_counted(board_.look(now_).get(), *map_, {"x", "x", "b:2", "x", "a:1"});
  }

  SlotUsageBoard board_;
  SlotStatsWatch watch_{*this, board_, 1};
  std::shared_ptr<const SlotMap> map_;
  Nanos pause_ = seconds(10);
  TimePoint now_ = TimePoint(seconds(1000));
  std::vector<std::function<void()>> due_;
  std::map<NodeIndex, int> questions_;
  std::map<std::size_t, std::int64_t> cpu_us_;
  std::int64_t commands_ = 0;
  double process_s_ = 0;
  bool counts_ = true;
  std::string error_;
  NodeIndex lost_ = kNoNode;
};

TEST_F(SlotStatsWatchTest, AsksNobodyUntilSomebodyLooks) {
  run(seconds(60));
  EXPECT_TRUE(questions_.empty());
  look_and_run(seconds(1));
  EXPECT_EQ(questions_[kFirst], 16);  // 8192 slots
  pause_ = Nanos(0);
  look_and_run(seconds(60));
  EXPECT_EQ(questions_[kFirst], 16);
}

TEST_F(SlotStatsWatchTest, StopsWhenNobodyLooksAnyMore) {
  look_and_run(SlotUsageBoard::kLook + seconds(1));
  const int before = questions_[kFirst];
  EXPECT_GE(before, 16 * 12);
  EXPECT_LE(before, 16 * 18);  // about one round in 7.5 to 10 s
  run(seconds(600));
  EXPECT_EQ(questions_[kFirst], before);
  EXPECT_EQ(board_.look(now_), nullptr);  // what it was is no load now
}

TEST_F(SlotStatsWatchTest, RatesAreBetweenTwoRounds) {
  cpu_us_[7] = 1'000'000'000;  // busy once
  cpu_us_[9000] = 50;
  look_and_run(seconds(1));
  EXPECT_EQ(of(kFirst).state, State::kAwaited);
  EXPECT_THAT(why(), HasSubstr("node a:1 has been asked"));
  cpu_us_[8] += 1'000'000;
  cpu_us_[9] += 200'000;
  commands_ += 20'000;
  process_s_ += 1.5;
  look_and_run(seconds(2));
  EXPECT_EQ(why(), "");
  EXPECT_NEAR(of(kFirst).executing, 0.6, 0.01);
  EXPECT_NEAR(of(kFirst).cpu, 0.75, 0.01);
  EXPECT_NEAR(of(kFirst).bytes_rate, 1'200'000, 1000);
  EXPECT_NEAR(of(kFirst).commands_rate, 10'000, 10);
  EXPECT_EQ(of(kSecond).executing, 0);
  const auto usage = board_.look(now_);
  EXPECT_NEAR(usage->executing[8], 0.5, 0.01);
  EXPECT_NEAR(usage->executing[9], 0.1, 0.01);
  EXPECT_EQ(usage->executing[7], 0);
  EXPECT_NEAR(usage->bytes_rate[8], 1'000'000, 1000);
}

TEST_F(SlotStatsWatchTest, ResetCountersHaveNoRate) {
  cpu_us_[8] = 500;
  look_and_run(seconds(1));
  cpu_us_[8] = 100;  // CONFIG RESETSTAT, or another process
  look_and_run(seconds(2));
  EXPECT_TRUE(std::isnan(board_.look(now_)->executing[8]));
  EXPECT_EQ(of(kFirst).executing, 0);
  cpu_us_[8] += 1'000'000;
  look_and_run(seconds(10));
  EXPECT_GT(board_.look(now_)->executing[8], 0.09);
}

TEST_F(SlotStatsWatchTest, ANewProcessIsJudgedFromItsSecondRoundOn) {
  process_s_ = 50;
  look_and_run(seconds(3));
  EXPECT_EQ(of(kFirst).state, State::kCounted);
  process_s_ = 1;
  for (int i = 0; i < 100 && of(kFirst).state == State::kCounted; ++i) look_and_run(Millis(100));
  EXPECT_EQ(of(kFirst).state, State::kAwaited);
  EXPECT_TRUE(std::isnan(of(kFirst).cpu));
  look_and_run(seconds(3));
  EXPECT_EQ(of(kFirst).state, State::kCounted);
}

TEST_F(SlotStatsWatchTest, ASlotThatMovedHasNoRateOfItsFormerMaster) {
  cpu_us_[8] = 500;
  look_and_run(seconds(3));
  auto next = std::make_shared<SlotMap>(*map_);
  next->owners[8] = kSecond;
  map_ = next;
  cpu_us_[8] = 100'000'000;  // as the other one counts
  look_and_run(seconds(10));
  EXPECT_TRUE(std::isnan(board_.look(now_)->executing[8]));
  EXPECT_EQ(of(kSecond).executing, 0);
}

TEST_F(SlotStatsWatchTest, AnOldServerIsAskedSeldom) {
  error_ = "ERR unknown subcommand 'SLOT-STATS'. Try CLUSTER HELP.";
  for (int i = 0; i < 9; ++i) look_and_run(seconds(60));
  EXPECT_EQ(questions_[kFirst], 1);
  EXPECT_EQ(of(kFirst).state, State::kUnsupported);
  EXPECT_THAT(why(), HasSubstr("node a:1 does not have CLUSTER SLOT-STATS (Valkey has it since"));
  error_.clear();  // a new version is at the address
  look_and_run(seconds(100));
  EXPECT_EQ(why(), "");
}

TEST_F(SlotStatsWatchTest, AMissingRightIsAskedForSeldom) {
  error_ = "NOPERM User proxy has no permissions to run the 'cluster|slot-stats' command";
  for (int i = 0; i < 9; ++i) look_and_run(seconds(60));
  EXPECT_EQ(questions_[kFirst] + questions_[kSecond], 2);
  EXPECT_THAT(why(), HasSubstr("grant +cluster|slot-stats"));
}

TEST_F(SlotStatsWatchTest, AServerThatCountsNoTimeIsAskedForOnePart) {
  counts_ = false;
  look_and_run(seconds(59));
  EXPECT_EQ(questions_[kFirst], 1);
  EXPECT_THAT(why(), HasSubstr("CONFIG SET cluster-slot-stats-enabled yes"));
  counts_ = true;
  look_and_run(seconds(10));
  EXPECT_EQ(why(), "");
}

TEST_F(SlotStatsWatchTest, AMasterThatIsSilentHasNoFigures) {
  look_and_run(seconds(3));
  EXPECT_EQ(why(), "");
  lost_ = kSecond;
  look_and_run(seconds(11));
  EXPECT_EQ(of(kFirst).state, State::kCounted);
  EXPECT_TRUE(std::isnan(board_.look(now_)->executing[9000]));
  EXPECT_THAT(why(), HasSubstr("node b:2 did not answer CLUSTER SLOT-STATS: connection refused"));
  lost_ = kNoNode;
  look_and_run(seconds(20));
  EXPECT_EQ(why(), "");
}

}  // namespace
}  // namespace heatsink::topology
