// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/client_heat.h"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>

namespace heatsink::copies {
namespace {

using std::chrono::seconds;

constexpr auto kClients = static_cast<std::size_t>(heat::Kind::kClient);

class ClientHeatTest : public ::testing::Test {
 protected:
  void ask(std::uint32_t client, std::uint64_t commands) {
    commands_.note(client, total_ += commands);
  }
  heat::Moment moment_at(int second) {
    heat::Moment moment;
    const ClientCommands* const workers[] = {&commands_};
    heat_.add_to(
        moment, workers, [](std::uint32_t client) { return "10.0.0." + std::to_string(client); },
        window_, TimePoint(seconds(1000 + second)));
    return moment;
  }

  Nanos window_ = seconds(10);
  ClientCommands commands_;
  ClientHeat heat_;
  std::uint64_t total_ = 0;
};

TEST_F(ClientHeatTest, RatesAreOfTheWindow) {
  EXPECT_TRUE(moment_at(0).items.empty());
  EXPECT_TRUE(std::isnan(moment_at(0).totals.client_commands)) << "nothing is known yet";
  for (int second = 1; second <= 20; ++second) {
    ask(1, 100);
    ask(2, second <= 5 ? 900 : 0);
    moment_at(second);
  }
  const heat::Moment moment = moment_at(21);
  ASSERT_EQ(moment.items.size(), 1U) << "the other one has asked nothing in this window";
  EXPECT_EQ(moment.items[0].identity.kind, heat::Kind::kClient);
  EXPECT_EQ(moment.items[0].identity.name, "10.0.0.1");
  EXPECT_NEAR(moment.items[0].rate, 100, 10);
  EXPECT_EQ(moment.items[0].rate_high, moment.items[0].rate) << "each command is counted";
  EXPECT_EQ(moment.totals.client_commands, moment.items[0].rate);
}

TEST_F(ClientHeatTest, AShortWindowHasTheRateOfItsSeconds) {
  window_ = seconds(1);
  moment_at(0);
  for (int second = 1; second <= 5; ++second) {
    ask(1, second < 5 ? 100 : 700);
    const heat::Moment moment = moment_at(second);
    ASSERT_EQ(moment.items.size(), 1U);
    EXPECT_NEAR(moment.items[0].rate, second < 5 ? 100 : 700, 1e-9) << second;
  }
  EXPECT_TRUE(moment_at(6).items.empty()) << "what came before the window is forgotten";
  EXPECT_EQ(heat_.memory_bytes(), 2 * 1024 * sizeof(std::uint32_t)) << "two samples";
}

TEST_F(ClientHeatTest, TheBusiestAreNamedAndTheOthersBounded) {
  moment_at(0);
  for (std::uint32_t client = 0; client < 30; ++client) ask(client, 100 + client * 10);
  const heat::Moment moment = moment_at(10);
  ASSERT_EQ(moment.items.size(), heat::kPerMoment[kClients]);
  EXPECT_EQ(moment.items[0].identity.name, "10.0.0.29");
  EXPECT_NEAR(moment.items[0].rate, 39, 1e-9);
  EXPECT_NEAR(moment.unnamed_max[kClients], 23, 1e-9);
  EXPECT_NEAR(moment.totals.client_commands, (30 * 100 + 435 * 10) / 10.0, 1e-9);
}

TEST_F(ClientHeatTest, AfterARestTheWindowIsNotLonger) {
  moment_at(0);
  ask(1, 1100);
  EXPECT_NEAR(moment_at(3600).items.at(0).rate, 100, 1e-9);
}

}  // namespace
}  // namespace heatsink::copies
