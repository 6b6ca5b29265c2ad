// SPDX-License-Identifier: Apache-2.0
#include "heatsink/observe/capture_tally.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heatsink/base/testing/times.h"
#include "heatsink/observe/captured_for_test.h"

namespace heatsink::observe {
namespace {

using std::chrono::seconds;

TEST(CaptureTally, CountsReadsWritesBytesCommandsAndClients) {
  CaptureTally tally(1);
  for (int i = 0; i < 100; ++i) tally.take(Captured("a").get(), kStart);
  (void)tally.summarize(kStart);  // from here on the capture passes the clients
  Captured other("a", true);
  other.command.client = endpoint(2, 50'001);
  for (int i = 0; i < 40; ++i) tally.take(other.get(), kStart);
  const detect::Summary seen = tally.summarize(kStart + seconds(1));
  ASSERT_EQ(seen.keys.size(), 1u);
  const detect::KeyCount& key = seen.keys[0];
  EXPECT_EQ(key.key, "a");
  EXPECT_EQ(key.reads, 100u);
  EXPECT_EQ(key.writes, 40u);
  EXPECT_EQ(key.bytes, 4000u);
  ASSERT_FALSE(key.clients.empty());
  EXPECT_EQ(key.clients[0].name, "10.0.0.2");
  EXPECT_EQ(key.commands[0].name, "SET");
  EXPECT_EQ(tally.servers(), 1u);
  EXPECT_EQ(tally.busiest_server(), "10.0.0.9:6379");
}

TEST(CaptureTally, AReadWithoutItsReplyWeighsWhatItsKeysReadsDo) {
  CaptureTally tally(1);
  tally.take(Captured("a").get(), kStart);
  (void)tally.summarize(kStart);
  tally.take(Captured("a").get(), kStart);  // nothing is known yet
  EXPECT_EQ(tally.summarize(kStart).keys[0].bytes, 0u);
  tally.take(Captured("a").answered(kLatency).get(), kStart);
  for (int i = 0; i < 7; ++i) tally.take(Captured("a").get(), kStart);
  EXPECT_EQ(tally.summarize(kStart).keys[0].bytes, 8u * 50);
  for (int i = 0; i < 1000; ++i) {  // half of them are not there
    tally.take(Captured("a").answered(kLatency, i % 2 == 0).get(), kStart);
    for (int other = 0; other < 9; ++other) tally.take(Captured("a").get(), kStart);
  }
  EXPECT_NEAR(static_cast<double>(tally.summarize(kStart).keys[0].bytes), 10'000 * 25, 20'000)
      << "what it began with is forgotten within about 64 answers";
}

TEST(CaptureTally, AnswersAreThoseOfTheListedKeys) {
  CaptureTally tally(1);
  tally.take(Captured("a").answered(kLatency).get(), kStart);
  const KeyHash hash = tally.summarize(kStart).keys[0].hash;
  EXPECT_FALSE(tally.answers(hash, kStart));  // it was not listed when it was answered
  for (int i = 0; i < 98; ++i) tally.take(Captured("a").answered(kLatency).get(), kStart);
  tally.take(Captured("a").answered(Millis(10), true).get(), kStart);
  tally.take(Captured("a").answered(Millis(10), true).get(), kStart);
  tally.take(Captured("a", true).answered(kLatency).get(), kStart);  // a write misses nothing
  tally.take(Captured("a").get(), kStart);                           // of this nothing is known
  const auto answers = tally.answers(hash, kStart + seconds(1));
  ASSERT_TRUE(answers);
  EXPECT_DOUBLE_EQ(answers->absent_share, 0.02);
  EXPECT_EQ(answers->latency_mean, Nanos((99 * 100'000 + 2 * 10'000'000) / 101));
  EXPECT_NEAR(static_cast<double>(answers->latency_p99->count()), 10e6, 0.2e6);
  EXPECT_FALSE(tally.answers(hash, kStart + seconds(11)));  // it is over
}

TEST(CaptureTally, ServersAreToldApart) {
  CaptureTally tally(1);
  Captured other("b");
  other.command.server = endpoint(8, 6380);
  tally.take(Captured("a").get(), kStart);
  tally.take(other.get(), kStart);
  tally.take(other.get(), kStart);
  EXPECT_EQ(tally.servers(), 2u);
  EXPECT_EQ(tally.busiest_server(), "10.0.0.8:6380");
  for (unsigned i = 0; i < 1000; ++i) {
    other.command.server.port = static_cast<std::uint16_t>(7000 + i);
    tally.take(other.get(), kStart);
  }
  EXPECT_EQ(tally.servers(), CaptureTally::kServersMax);
}

}  // namespace
}  // namespace heatsink::observe
