// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/traffic_meter.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace heatsink::copies {
namespace {

constexpr ServerWork kAlone{.commands = 1000, .writes = 1000};
constexpr ServerWork kPipelinedWork{.commands = 20'000, .writes = 1000};

// The same work in each of these seconds.
void pass(TrafficMeter& meter, int steps, const ServerWork& work) {
  for (int i = 0; i < steps; ++i) {
    meter.saw(work);
    meter.tick();
  }
}

TEST(TrafficMeterTest, BeforeAnyTrafficCommandsComeAlone) {
  EXPECT_DOUBLE_EQ(TrafficMeter().shape().at_once, 1);
  EXPECT_DOUBLE_EQ(TrafficMeter().shape().awaited, 1);
}

TEST(TrafficMeterTest, TheFirstTrafficCountsAtOnce) {
  TrafficMeter meter;
  meter.saw(kPipelinedWork);
  EXPECT_DOUBLE_EQ(meter.shape().at_once, 20);
  EXPECT_LT(meter.shape().awaited, 0.01) << "a guess";
}

TEST(TrafficMeterTest, FillsShowWhoWaits) {
  TrafficMeter meter;
  ServerWork work = kAlone;
  work.queued_fills = 1000;
  meter.saw(work);
  EXPECT_LT(meter.shape().awaited, 0.05);
}

// The same load; sometimes two clients' commands come together, and a fill finds company.
TEST(TrafficMeterTest, NoiseIsSmoothed) {
  TrafficMeter meter;
  pass(meter, 40, {.commands = 1200, .writes = 1000, .awaited_fills = 50, .queued_fills = 10});
  double lowest = 1e9, highest = 0;
  double lowest_of_both = 1e9, highest_of_both = 0;
  for (int second = 0; second < 100; ++second) {
    const bool odd = second % 2 == 1;
    pass(meter, 1,
         {.commands = odd ? 1600U : 1000U,
          .writes = 1000,
          .awaited_fills = odd ? 10U : 60U,
          .queued_fills = odd ? 40U : 0U});
    const double fill = admit::costs_of(meter.shape(), admit::Prices{}.of_server()).of_fill(0.1);
    lowest = std::min(lowest, fill);
    highest = std::max(highest, fill);
    const double of_both = admit::costs_of(meter.shape(), {}).of_fill(0.1);
    lowest_of_both = std::min(lowest_of_both, of_both);
    highest_of_both = std::max(highest_of_both, of_both);
  }
  EXPECT_LT(highest / lowest, 1.2);
  EXPECT_LT(highest_of_both / lowest_of_both, 1.4) << "with the proxy's CPU time";
  EXPECT_GE(lowest, 1);
}

TEST(TrafficMeterTest, ALastingChangeCountsSoon) {
  TrafficMeter meter;
  pass(meter, 100, kPipelinedWork);
  pass(meter, 1, kAlone);
  EXPECT_GT(meter.shape().at_once, 15) << "one second may be chance";
  pass(meter, 14, {.commands = 10'000, .writes = 10'000});
  EXPECT_LT(meter.shape().at_once, 1.5);
}

// Ten commands per write in both, but half of the bunched turns have one command.
TEST(TrafficMeterTest, HitsSpareMoreWakeUpsWhereClientsBunch) {
  ServerWork even{.commands = 10'000, .writes = 1000, .turns = 1000};
  ServerWork bunched = even;
  for (int turn = 0; turn < 1000; ++turn) {
    even.batches.note(10);
    bunched.batches.note(turn % 2 == 0 ? 1 : 19);
  }
  const auto spared = [](const ServerWork& work, double hits) {
    TrafficMeter meter;
    meter.saw(work);
    return meter.shape(hits).spared_wake_ups;
  };
  EXPECT_LT(spared(even, 0.7), 0.01);
  EXPECT_GT(spared(bunched, 0.7), 0.04);
  EXPECT_LT(spared(ServerWork{.commands = 10, .writes = 1}, 0.7), 0) << "too little is known";
  ServerWork with_hits = bunched;
  with_hits.hits = 40'000;
  EXPECT_DOUBLE_EQ(spared(with_hits, 0), spared(bunched, 0.8)) << "what is reached counts, too";
}

TEST(TrafficMeterTest, AQuietServerShowsNothingNew) {
  TrafficMeter meter;
  pass(meter, 100, kPipelinedWork);
  pass(meter, 60, {.commands = 1, .writes = 1});
  EXPECT_GT(meter.shape().at_once, 15);
}

// 100 reads waited 300 us each for a fill, and 1000 commands 120 us each for the server.
TEST(TrafficMeterTest, TheWaitForAFillIsWhatItTakesBeyondTheServersOwnAnswer) {
  TrafficMeter meter;
  ServerWork work{.commands = 1000, .writes = 1000};
  work.asks = 1000;
  work.asked = work.asks * std::chrono::microseconds(120);
  meter.saw(work);
  EXPECT_EQ(meter.wait(), Nanos(0)) << "no read has waited yet";
  work.waits = 100;
  work.waited = work.waits * std::chrono::microseconds(300);
  meter.saw(work);
  EXPECT_EQ(meter.wait(), std::chrono::microseconds(180));
  work.waits = 10'000;
  work.waited = work.waits * std::chrono::microseconds(1);
  meter.saw(work);
  EXPECT_EQ(meter.wait(), Nanos(0)) << "a wait that is shorter is no gain";
}

}  // namespace
}  // namespace heatsink::copies
