// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/offload_meter.h"

#include <gtest/gtest.h>

#include "heatsink/base/testing/times.h"

namespace heatsink::copies {
namespace {

class CountingWorker final : public KeeperListener {
 public:
  void deliver(std::vector<std::shared_ptr<const FillAnswer>>) override {}
  void release(std::uint64_t, std::uint64_t) override {}
  void set_commands(std::shared_ptr<const resp::CommandTable>) override {}
  const Counters& counters() const override { return counted; }

  Counters counted;
};

class OffloadMeterTest : public testing::Test {
 protected:
  OffloadMeterTest() { meter_.serve(workers_); }

  report::Report report_at(int ms) {
    report::Report report;
    meter_.add_to(report, at(ms));
    return report;
  }

  NodeState shared_{{}, net::RedisUrl{}, 1};
  Counters counters_;
  CountingWorker one_, other_;
  std::vector<KeeperListener*> workers_{&one_, &other_};
  OffloadMeter meter_{shared_, counters_};
};

TEST_F(OffloadMeterTest, AddsUpTheWorkersAndItsOwnConnections) {
  meter_.note(at(0));
  one_.counted.add(Count::kCommands, 300);
  other_.counted.add(Count::kCommands, 200);
  other_.counted.add(Count::kUnservedCommands, 100);  // got no connection
  one_.counted.add(Count::kServerCommands, 70);
  other_.counted.add(Count::kServerCommands, 10);
  shared_.own_commands = 20;
  const report::Report report = report_at(1000);
  EXPECT_DOUBLE_EQ(report.commands_rate, 400);
  EXPECT_DOUBLE_EQ(report.server_commands_rate, 100);
  EXPECT_DOUBLE_EQ(report.own_commands_rate, 20);
  EXPECT_DOUBLE_EQ(report.offload, 0.75);
  EXPECT_EQ(counters_.read(Count::kOwnCommands), 20U);
}

TEST_F(OffloadMeterTest, KeepsTheKeepersOwnCountCurrent) {
  shared_.own_commands = 5;
  meter_.note(at(0));
  shared_.own_commands = 12;
  meter_.note(at(100));
  meter_.note(at(200));
  EXPECT_EQ(counters_.read(Count::kOwnCommands), 12U);
}

TEST_F(OffloadMeterTest, MovesTheLoadsOfKeysWithTheWindow) {
  meter_.note(at(0));
  shared_.key_loads.add(KeyHash{7}, 5);
  EXPECT_EQ(shared_.key_loads.of(KeyHash{7}), 5);
  const auto window = std::chrono::duration_cast<Millis>(shared_.options().window);
  meter_.note(at(2 * window));
  EXPECT_EQ(shared_.key_loads.of(KeyHash{7}), 0);
}

TEST_F(OffloadMeterTest, SaysWhyTheCpuTimeIsUnknown) {
  EXPECT_FALSE(report_at(0).server_cpu.has_value());
  EXPECT_NE(report_at(0).server_cpu_unknown, "");
  redis::ServerUse refused;
  refused.problem = "NOPERM no INFO";
  meter_.answered(0, refused, at(0));
  EXPECT_NE(report_at(1).server_cpu_unknown.find("NOPERM"), std::string::npos);
}

TEST_F(OffloadMeterTest, TellsTheCpuTimeThatTheServerTells) {
  const auto answer = [this](int ms, double cpu_s) {
    redis::ServerUse use;
    use.cpu_s = cpu_s;
    use.commands = 1000.0 * ms;
    meter_.answered(0, use, at(ms));
  };
  answer(0, 1);
  answer(2000, 2);
  const report::Report report = report_at(2000);
  ASSERT_TRUE(report.server_cpu.has_value());
  EXPECT_NEAR(report.server_cpu->cores, 0.5, 0.01);
}

// All that clients sent has reached the server, in as many wake-ups as the workers had turns.
TEST_F(OffloadMeterTest, ClientsThatCameTogetherAreOneWakeUp) {
  const auto spared_with_turns = [this](int turns, int from_ms) {
    for (int i = 0; i < 3; ++i) {
      redis::ServerUse use;
      use.cpu_s = from_ms + i;
      use.commands = 1000.0 * (from_ms + i);
      meter_.answered(0, use, at(from_ms + 1000 * i));
      for (CountingWorker* const worker : {&one_, &other_}) {
        worker->counted.add(Count::kCommands, 1000);
        worker->counted.add(Count::kClientReads, 1000);
        worker->counted.add(Count::kClientTurns, static_cast<std::uint64_t>(turns));
        worker->counted.add(Count::kServerCommands, 1000);
        worker->counted.add(Count::kUpstreamWrites, static_cast<std::uint64_t>(turns));
      }
    }
    return meter_.server_cpu(at(from_ms + 2000))->spared_cores;
  };
  EXPECT_NEAR(spared_with_turns(1000, 0), 0, 1e-9);
  EXPECT_GT(spared_with_turns(500, 20'000), 0);
}

TEST_F(OffloadMeterTest, BelievesAnotherProcessUntilItHasMeasured) {
  meter_.believe(3);
  EXPECT_DOUBLE_EQ(meter_.server_scale().value, 3);
}

}  // namespace
}  // namespace heatsink::copies
