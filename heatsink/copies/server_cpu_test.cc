// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/server_cpu.h"

#include <gtest/gtest.h>

namespace heatsink::copies {
namespace {

using std::chrono::seconds;

constexpr Nanos kUseWindow = seconds(10);
constexpr admit::ServerPrices kUsePrices{};

TimePoint use_second(int number) { return TimePoint(seconds(number)); }

// A thousand commands per second of a client that waits for each reply.
ServerEffort effort_after(int time_s, std::uint64_t executed_per_second) {
  const auto time = static_cast<std::uint64_t>(time_s);
  return {.sent = 1000 * time,
          .client_reads = 1000 * time,
          .executed = executed_per_second * time,
          .writes = executed_per_second * time};
}

redis::ServerUse use_after(int time_s, double cores, double commands_per_second) {
  return {.cpu_s = 50 + cores * time_s, .commands = 1e6 + commands_per_second * time_s};
}

TEST(ServerEffort, PricesWhatWasSentAndWhatClientsWouldHaveSent) {
  const ServerEffort effort{
      .sent = 100, .client_reads = 10, .executed = 30, .writes = 5, .fills = 4, .ends = 2};
  EXPECT_DOUBLE_EQ(effort.seconds(kUsePrices), 22 * kUsePrices.command + 4 * kUsePrices.fill +
                                                   5 * kUsePrices.wake_up + 2 * kUsePrices.push);
  EXPECT_DOUBLE_EQ(effort.seconds_without_proxy(kUsePrices),
                   100 * kUsePrices.command + 10 * kUsePrices.wake_up);
}

TEST(ServerCpu, IsUnknownBeforeTwoAnswers) {
  ServerCpu cpu;
  EXPECT_FALSE(cpu.figure(use_second(0), kUseWindow));
  EXPECT_EQ(cpu.problem(use_second(0), kUseWindow), "the server has not told its CPU time lately");
  cpu.answered(0, use_after(0, 0.5, 250), {}, use_second(0), kUseWindow);
  EXPECT_FALSE(cpu.figure(use_second(0), kUseWindow));
  EXPECT_EQ(cpu.problem(use_second(0), kUseWindow),
            "the server has told its CPU time only once so far");
}

// Three of four commands are not sent, so three quarters of the CPU time are spared.
TEST(ServerCpu, UsedIsWhatTheServerSaysAndSparedFollowsFromIt) {
  ServerCpu cpu;
  for (int at = 0; at <= 30; ++at)
    cpu.answered(0, use_after(at, 0.01, 250), effort_after(at, 250), use_second(at), kUseWindow);
  const auto figure = cpu.figure(use_second(30), kUseWindow);
  ASSERT_TRUE(figure);
  EXPECT_NEAR(figure->cores, 0.01, 1e-9);
  EXPECT_NEAR(figure->spared_cores, 0.03, 1e-9);
  EXPECT_NEAR(figure->taken_off(), 0.75, 1e-9);
}

TEST(ServerCpu, WhatOtherClientsCostTheServerIsNotSparedButCounts) {
  ServerCpu cpu;
  for (int at = 0; at <= 10; ++at)
    cpu.answered(0, use_after(at, 0.01, 500), effort_after(at, 250), use_second(at), kUseWindow);
  const auto figure = cpu.figure(use_second(10), kUseWindow);
  ASSERT_TRUE(figure);
  EXPECT_NEAR(figure->spared_cores, 0.015, 1e-9) << "half of its commands are ours";
  EXPECT_NEAR(figure->taken_off(), 0.6, 1e-9);
}

TEST(ServerCpu, ItIsNegativeWhereTheProxyCostsMore) {
  ServerCpu cpu;
  for (int at = 0; at <= 10; ++at)
    cpu.answered(0, use_after(at, 0.02, 1250), effort_after(at, 1250), use_second(at), kUseWindow);
  EXPECT_NEAR(cpu.figure(use_second(10), kUseWindow)->taken_off(), -0.25, 1e-9);
}

// A server with nothing to do uses CPU time for itself.
TEST(ServerCpu, AnIdleServerIsNotSparedTheMore) {
  ServerCpu cpu;
  for (int at = 0; at <= 10; ++at)
    cpu.answered(0, use_after(at, 0.5, 10), effort_after(at, 10), use_second(at), kUseWindow);
  const double command = kUsePrices.command + kUsePrices.wake_up;
  EXPECT_NEAR(cpu.figure(use_second(10), kUseWindow)->spared_cores,
              ServerCpu::kDearMax * 990 * command, 1e-9);
}

TEST(ServerCpu, NodesOfAClusterAddUp) {
  ServerCpu cpu;
  for (int at = 0; at <= 10; ++at)
    for (const ServerCpu::Node node : {1, 2})
      cpu.answered(node, use_after(at, 0.01, 125), effort_after(at, 250), use_second(at),
                   kUseWindow);
  const auto figure = cpu.figure(use_second(10), kUseWindow);
  ASSERT_TRUE(figure);
  EXPECT_NEAR(figure->cores, 0.02, 1e-9);
  EXPECT_NEAR(figure->taken_off(), 0.75, 1e-9);
}

TEST(ServerCpu, ARestartOfTheServerBeginsAnew) {
  ServerCpu cpu;
  for (int at = 0; at <= 10; ++at)
    cpu.answered(0, use_after(at, 0.01, 250), effort_after(at, 250), use_second(at), kUseWindow);
  cpu.answered(0, {.cpu_s = 0.1, .commands = 5}, effort_after(11, 250), use_second(11), kUseWindow);
  EXPECT_FALSE(cpu.figure(use_second(11), kUseWindow));
}

TEST(ServerCpu, ARefusalAndSilenceAreUnknown) {
  ServerCpu cpu;
  for (int at = 0; at <= 10; ++at)
    cpu.answered(0, use_after(at, 0.01, 250), effort_after(at, 250), use_second(at), kUseWindow);
  EXPECT_TRUE(cpu.figure(use_second(20), kUseWindow));
  EXPECT_FALSE(cpu.figure(use_second(21), kUseWindow)) << "silent for more than a window";
  cpu.answered(0, {.problem = "NOPERM"}, effort_after(11, 250), use_second(11), kUseWindow);
  EXPECT_FALSE(cpu.figure(use_second(11), kUseWindow));
  EXPECT_EQ(cpu.problem(use_second(11), kUseWindow), "the server refuses INFO: NOPERM");
}

}  // namespace
}  // namespace heatsink::copies
