// SPDX-License-Identifier: Apache-2.0
#include "heatsink/observe/node_load.h"

#include <gtest/gtest.h>

#include "heatsink/base/testing/times.h"

namespace heatsink::observe {
namespace {

using std::chrono::seconds;

TEST(CallCounts, AreOfCommandsThatNameKeys) {
  const CallCounts counts = call_counts(
      "# Commandstats\r\n"
      "cmdstat_get:calls=100,usec=1,usec_per_call=1.00\r\n"
      "cmdstat_hgetall:calls=10,usec=1\r\n"
      "cmdstat_set:calls=7,usec=1\r\n"
      "cmdstat_ping:calls=1000,usec=1\r\n"
      "cmdstat_object|freq:calls=5000,usec=1\r\n"
      "cmdstat_scan:calls=50,usec=1\r\n"
      "cmdstat_new_thing:calls=3,usec=1\r\n"
      "cmdstat_mget:calls=nonsense\r\n"
      "cmdstat_broken\r\n");
  EXPECT_EQ(counts.reads, 110);
  EXPECT_EQ(counts.writes, 7);
}

TEST(LoadMeter, IsOfTheLastSeconds) {
  LoadMeter meter;
  EXPECT_FALSE(meter.load());
  meter.add({0, 0}, at(seconds(0)));
  EXPECT_FALSE(meter.load());
  meter.add({1000, 10}, at(seconds(1)));
  EXPECT_EQ(meter.load()->requests_rate(), 1010);
  for (int s = 2; s <= 20; ++s) meter.add({1000, 10}, at(seconds(s)));
  EXPECT_EQ(meter.load()->requests_rate(), 0);
}

TEST(LoadMeter, BeginsAnewWithTheServer) {
  LoadMeter meter;
  meter.add({5000, 10}, at(seconds(0)));
  meter.add({5, 0}, at(seconds(1)));
  EXPECT_FALSE(meter.load());
  meter.add({105, 0}, at(seconds(2)));
  EXPECT_EQ(meter.load()->reads_rate, 100);
}

}  // namespace
}  // namespace heatsink::observe
