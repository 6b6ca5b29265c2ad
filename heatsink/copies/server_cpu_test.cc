// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/server_cpu.h"

#include <gtest/gtest.h>

namespace heatsink::copies {
namespace {

constexpr Nanos kUseWindow = std::chrono::seconds(10);
constexpr admit::ServerPrices kUsePrices{};

TimePoint use_second(int number) { return TimePoint(std::chrono::seconds(number)); }

constexpr double kLoneCommandCost = kUsePrices.command + kUsePrices.wake_up;
constexpr std::uint64_t kSentPerSecond = 1000;

// A server on a machine that takes twice as long as the prices say, and 4 ms a second for itself.
// It has clients that wait for each reply, and tells its CPU time once per second.
class SlowServer {
 public:
  static constexpr double kScale = 2, kIdle = 0.004;

  explicit SlowServer(ServerCpu& cpu, ServerCpu::Node node = 0) : cpu_(cpu), node_(node) {}

  // Each second clients send kSentPerSecond, and the proxy so many of them; and others send more.
  void run(int seconds_long, std::uint64_t executed, std::uint64_t by_others = 0) {
    for (int i = 0; i < seconds_long; ++i) {
      ++now;
      effort.sent += kSentPerSecond;
      effort.client_reads += kSentPerSecond;
      effort.client_turns += kSentPerSecond / clients_at_once;
      effort.executed += executed;
      effort.writes += executed;
      const auto all = static_cast<double>(executed + by_others);
      use.commands += all;
      use.cpu_s += kIdle + kScale * all * kLoneCommandCost;
      tell();
    }
  }
  void tell() { cpu_.answered(node_, use, effort, use_second(now), kUseWindow); }

  redis::ServerUse use{.cpu_s = 50, .commands = 1e6, .problem = ""};
  ServerEffort effort;
  int now = 0;
  std::uint64_t clients_at_once = 1;  // whose commands a worker reads in one turn

 private:
  ServerCpu& cpu_;
  ServerCpu::Node node_;
};

TEST(ServerEffort, PricesWhatWasSentAndWhatClientsWouldHaveSent) {
  const ServerEffort effort{.sent = 100,
                            .client_reads = 10,
                            .client_turns = 10,
                            .executed = 30,
                            .writes = 5,
                            .fills = 4,
                            .ends = 2};
  EXPECT_DOUBLE_EQ(effort.seconds(kUsePrices), 22 * kUsePrices.command + 4 * kUsePrices.fill +
                                                   5 * kUsePrices.wake_up + 2 * kUsePrices.push);
  EXPECT_DOUBLE_EQ(effort.seconds_without_proxy(kUsePrices),
                   100 * kUsePrices.command + 10 * kUsePrices.wake_up);
}

TEST(ServerEffort, ClientsThatComeTogetherWouldWakeTheServerUpOnce) {
  const ServerEffort effort{.sent = 100, .client_reads = 30, .client_turns = 10};
  EXPECT_DOUBLE_EQ(
      effort.seconds_without_proxy(kUsePrices),
      100 * kUsePrices.command + (10 + 20 * ServerEffort::kFurtherClient) * kUsePrices.wake_up);
}

TEST(ServerEffort, ATurnThatIsCountedBeforeItsReadsIsAWakeUp) {
  const ServerEffort effort{.sent = 1, .client_reads = 0, .client_turns = 1};
  EXPECT_DOUBLE_EQ(effort.seconds_without_proxy(kUsePrices),
                   kUsePrices.command + kUsePrices.wake_up);
}

TEST(ServerCpu, IsUnknownBeforeTwoAnswers) {
  ServerCpu cpu;
  EXPECT_FALSE(cpu.figure(use_second(0), kUseWindow));
  EXPECT_EQ(cpu.problem(use_second(0), kUseWindow), "the server has not told its CPU time lately");
  SlowServer server(cpu);
  server.run(1, 1000);
  EXPECT_FALSE(cpu.figure(use_second(1), kUseWindow));
  EXPECT_EQ(cpu.problem(use_second(1), kUseWindow),
            "the server has told its CPU time only once so far");
  server.run(1, 1000);
  EXPECT_TRUE(cpu.figure(use_second(2), kUseWindow));
}

TEST(ServerCpu, UsedIsWhatTheServerSaysAndWhatWasSentBeforeTellsThePrice) {
  ServerCpu cpu;
  SlowServer server(cpu);
  server.run(60, 1000);
  server.run(60, 250);
  const auto figure = cpu.figure(use_second(server.now), kUseWindow);
  ASSERT_TRUE(figure);
  const double used = SlowServer::kIdle + SlowServer::kScale * 250 * kLoneCommandCost;
  const double spared = SlowServer::kScale * 750 * kLoneCommandCost;
  EXPECT_NEAR(figure->cores, used, 1e-9);
  EXPECT_NEAR(figure->spared_cores, spared, 0.1 * spared);
  EXPECT_NEAR(figure->taken_off(), spared / (used + spared), 0.02);
}

TEST(ServerCpu, ThePricesAreBelievedUntilTheServerHasToldItsOwn) {
  ServerCpu cpu;
  EXPECT_EQ(cpu.scale().value, admit::kServerScaleBelieved);
  EXPECT_FALSE(cpu.scale().is_measured);
  SlowServer server(cpu);
  server.run(2, kSentPerSecond);
  EXPECT_TRUE(cpu.scale().is_measured);
  server.run(60, kSentPerSecond);
  EXPECT_NEAR(cpu.scale().value, SlowServer::kScale, 0.1);
}

TEST(ServerCpu, BelievesWhatTheProcessBeforeHasMeasured) {
  ServerCpu cpu;
  cpu.believe(3);
  EXPECT_EQ(cpu.scale().value, 3);
  EXPECT_FALSE(cpu.scale().is_measured);
  SlowServer server(cpu);
  server.run(60, kSentPerSecond);
  EXPECT_NEAR(cpu.scale().value, SlowServer::kScale, 0.1);
}

TEST(ServerCpu, WhatOtherClientsCostTheServerIsNotSparedButCounts) {
  ServerCpu cpu;
  SlowServer server(cpu);
  server.run(60, 1000, 1000);
  server.run(60, 500, 500);
  const auto figure = cpu.figure(use_second(server.now), kUseWindow);
  ASSERT_TRUE(figure);
  const double spared = SlowServer::kScale * 500 * kLoneCommandCost;
  EXPECT_NEAR(figure->spared_cores, spared, 0.1 * spared);
  EXPECT_NEAR(figure->cores, 2 * spared + SlowServer::kIdle, 1e-9);
}

TEST(ServerCpu, ItIsNegativeWhereTheProxyCostsMore) {
  ServerCpu cpu;
  SlowServer server(cpu);
  server.run(60, 1250);
  EXPECT_NEAR(cpu.figure(use_second(server.now), kUseWindow)->taken_off(), -0.25, 0.04);
}

// It uses CPU time for itself, which says nothing about the price of a command.
TEST(ServerCpu, AnIdleServerIsNotSparedTheMore) {
  ServerCpu cpu;
  SlowServer server(cpu);
  server.run(600, 10);
  const double spared = SlowServer::kScale * 990 * kLoneCommandCost;
  EXPECT_NEAR(cpu.figure(use_second(server.now), kUseWindow)->spared_cores, spared, 0.5 * spared);
}

// The clients' commands would have woken the server up half as often as the proxy's do now, each
// of which comes alone. A wake-up for each client's command would show 12 %.
TEST(ServerCpu, CommandsThatBunchAtTheProxyWouldHaveBunchedAtTheServer) {
  ServerCpu cpu;
  SlowServer server(cpu);
  server.clients_at_once = 4;
  server.run(60, 880);
  const double direct =
      SlowServer::kScale *
      (1000 * kUsePrices.command + (250 + 750 * ServerEffort::kFurtherClient) * kUsePrices.wake_up);
  const double used = SlowServer::kScale * 880 * kLoneCommandCost;
  const auto figure = cpu.figure(use_second(server.now), kUseWindow);
  ASSERT_TRUE(figure);
  EXPECT_NEAR(figure->spared_cores, direct - used, 0.1 * used);
  EXPECT_LT(figure->taken_off(), -0.5);
}

// Counts of five seconds on a busy machine (docs/decisions/0137): per command, the server took 24 %
// less than another one that got the same commands directly. To price each read from a client as a
// wake-up would show 41 %.
TEST(ServerCpu, AMixThatWasMeasuredOnABusyMachine) {
  ServerCpu cpu;
  ServerEffort effort;
  redis::ServerUse use{.cpu_s = 1, .commands = 1e6, .problem = ""};
  int second = 0;
  for (; second < 60; second += 5) {
    cpu.answered(0, use, effort, use_second(second), kUseWindow);
    effort.sent += 6246;
    effort.client_reads += 6282;
    effort.client_turns += 5181;
    effort.executed += 5022;
    effort.writes += 3149;
    effort.fills += 716;
    effort.ends += 678;
    use.commands += 5022;
    use.cpu_s += 0.1335;
  }
  const auto figure = cpu.figure(use_second(second - 5), kUseWindow);
  ASSERT_TRUE(figure);
  EXPECT_NEAR(figure->taken_off(), 0.34, 0.03);
}

TEST(ServerCpu, NodesOfAClusterAddUp) {
  ServerCpu cpu;
  SlowServer one(cpu, 1), two(cpu, 2);
  for (int i = 0; i < 60; ++i) {
    for (SlowServer* const server : {&one, &two}) {
      server->run(1, 500);
      server->effort = {.sent = server->effort.sent,
                        .client_reads = server->effort.client_reads,
                        .client_turns = server->effort.client_turns,
                        .executed = 2 * 500U * static_cast<unsigned>(server->now),
                        .writes = 2 * 500U * static_cast<unsigned>(server->now)};
    }
  }
  const auto figure = cpu.figure(use_second(60), kUseWindow);
  ASSERT_TRUE(figure);
  EXPECT_NEAR(figure->cores, 2 * (SlowServer::kIdle + SlowServer::kScale * 500 * kLoneCommandCost),
              1e-9);
  EXPECT_NEAR(figure->spared_cores, 0, 1e-3) << "the nodes got all that clients sent";
}

TEST(ServerCpu, ARestartOfTheServerBeginsAnew) {
  ServerCpu cpu;
  SlowServer server(cpu);
  server.run(20, 1000);
  EXPECT_TRUE(cpu.figure(use_second(20), kUseWindow));
  server.use = {.cpu_s = 0.1, .commands = 5, .problem = ""};
  server.run(1, 1000);
  EXPECT_FALSE(cpu.figure(use_second(21), kUseWindow));
  server.run(1, 1000);
  EXPECT_GT(cpu.figure(use_second(22), kUseWindow)->cores, 0);
}

TEST(ServerCpu, ARefusalAndSilenceAreUnknown) {
  ServerCpu cpu;
  SlowServer server(cpu);
  server.run(10, 1000);
  EXPECT_TRUE(cpu.figure(use_second(20), kUseWindow));
  EXPECT_FALSE(cpu.figure(use_second(21), kUseWindow)) << "silent for more than a window";
  server.use.problem = "NOPERM";
  server.run(1, 1000);
  EXPECT_FALSE(cpu.figure(use_second(11), kUseWindow));
  EXPECT_EQ(cpu.problem(use_second(11), kUseWindow), "the server refuses INFO: NOPERM");
}

}  // namespace
}  // namespace heatsink::copies
