// SPDX-License-Identifier: Apache-2.0
#include "heatsink/observe/capture_tally.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heatsink/observe/captured_for_test.h"
#include "heatsink/observe/times_for_test.h"

namespace heatsink::observe {
namespace {

using std::chrono::seconds;

TEST(CaptureTally, CountsReadsWritesBytesCommandsAndClients) {
  CaptureTally tally(1);
  for (int i = 0; i < 100; ++i) tally.take(Captured("a").get(), kBegin);
  (void)tally.summarize(kBegin);  // from here on it is told who asks
  Captured other("a", true);
  other.command.client = endpoint(2, 50'001);
  for (int i = 0; i < 40; ++i) tally.take(other.get(), kBegin);
  const detect::Summary seen = tally.summarize(kBegin + seconds(1));
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
  tally.take(Captured("a").get(), kBegin);
  (void)tally.summarize(kBegin);
  tally.take(Captured("a").get(), kBegin);  // nothing is known yet
  EXPECT_EQ(tally.summarize(kBegin).keys[0].bytes, 0u);
  tally.take(Captured("a").answered(kLatency).get(), kBegin);
  for (int i = 0; i < 7; ++i) tally.take(Captured("a").get(), kBegin);
  EXPECT_EQ(tally.summarize(kBegin).keys[0].bytes, 8u * 50);
  for (int i = 0; i < 1000; ++i) {  // half of them are not there
    tally.take(Captured("a").answered(kLatency, i % 2 == 0).get(), kBegin);
    for (int other = 0; other < 9; ++other) tally.take(Captured("a").get(), kBegin);
  }
  EXPECT_NEAR(static_cast<double>(tally.summarize(kBegin).keys[0].bytes), 10'000 * 25, 20'000)
      << "what it began with is forgotten within about 64 answers";
}

TEST(CaptureTally, AnswersAreThoseOfTheListedKeys) {
  CaptureTally tally(1);
  tally.take(Captured("a").answered(kLatency).get(), kBegin);
  const KeyHash hash = tally.summarize(kBegin).keys[0].hash;
  EXPECT_FALSE(tally.answers(hash, kBegin));  // it was not listed when it was answered
  for (int i = 0; i < 98; ++i) tally.take(Captured("a").answered(kLatency).get(), kBegin);
  tally.take(Captured("a").answered(Millis(10), true).get(), kBegin);
  tally.take(Captured("a").answered(Millis(10), true).get(), kBegin);
  tally.take(Captured("a", true).answered(kLatency).get(), kBegin);  // a write misses nothing
  tally.take(Captured("a").get(), kBegin);                           // of this nothing is known
  const auto answers = tally.answers(hash, kBegin + seconds(1));
  ASSERT_TRUE(answers);
  EXPECT_DOUBLE_EQ(answers->absent_share, 0.02);
  EXPECT_EQ(answers->latency_mean, Nanos((99 * 100'000 + 2 * 10'000'000) / 101));
  EXPECT_NEAR(static_cast<double>(answers->latency_p99->count()), 10e6, 0.2e6);
  EXPECT_FALSE(tally.answers(hash, kBegin + seconds(11)));  // it is over
}

TEST(CaptureTally, ServersAreToldApart) {
  CaptureTally tally(1);
  Captured other("b");
  other.command.server = endpoint(8, 6380);
  tally.take(Captured("a").get(), kBegin);
  tally.take(other.get(), kBegin);
  tally.take(other.get(), kBegin);
  EXPECT_EQ(tally.servers(), 2u);
  EXPECT_EQ(tally.busiest_server(), "10.0.0.8:6380");
  for (unsigned i = 0; i < 1000; ++i) {
    other.command.server.port = static_cast<std::uint16_t>(7000 + i);
    tally.take(other.get(), kBegin);
  }
  EXPECT_EQ(tally.servers(), CaptureTally::kServersMax);
}

}  // namespace
}  // namespace heatsink::observe
