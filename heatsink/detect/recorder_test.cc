// SPDX-License-Identifier: Apache-2.0
#include "heatsink/detect/recorder.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "heatsink/detect/access_for_test.h"

namespace heatsink::detect {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// As at the end of each turn of an event loop: nothing waits.
bool record_now(Recorder& recorder, const Access& access, TimePoint now) {
  const bool urgent = recorder.record(access, now);
  return recorder.drain(now) || urgent;
}

TEST(Recorder, LosslessAgainWhenTheRateFalls) {
  Recorder recorder({.window = seconds(1), .lossless_per_second = 10'000});
  TimePoint now = kStart;
  for (int i = 0; i < 50'000; ++i, now += std::chrono::microseconds(10)) {
    recorder.record(read_of(std::to_string(i % 100)), now);
  }
  EXPECT_TRUE(recorder.summarize(now, 10).sampled);
  for (int i = 0; i < 3000; ++i, now += milliseconds(1)) {
    recorder.record(read_of(std::to_string(i % 100)), now);
  }
  EXPECT_FALSE(recorder.summarize(now, 10).sampled);
}

TEST(Recorder, AKeyThatBecomesHotInAFullTableGetsIn) {
  Recorder recorder({.memory_bytes = kRecorderBytesMin});
  TimePoint now = kStart;
  for (int i = 0; i < 200'000; ++i, now += Nanos(1000)) {
    recorder.record(read_of("old:" + std::to_string(i % 2000)), now);  // 100 each
  }
  for (int i = 0; i < 1000; ++i, now += Nanos(1000)) recorder.record(read_of("new"), now);
  const Summary summary = recorder.summarize(now, 10);
  EXPECT_EQ(summary.keys.front().key, "new");
  EXPECT_GE(summary.keys.front().low, 700u);
}

// A tracked key is added at its first access in a slot only: the sketches must come out the same.
TEST(Recorder, TellsDistinctKeysAsIfEachAccessWereAdded) {
  constexpr Nanos kSlot = seconds(1);
  Recorder recorder(
      {.memory_bytes = kRecorderBytesMin, .lossless_per_second = 10'000, .has_distinct = true});
  std::mt19937_64 random(1);
  TimePoint now = kStart;
  std::vector<DistinctSketch> slots(1);
  const auto expected = [&] {
    DistinctSketch window;
    for (std::size_t i = slots.size() > 10 ? slots.size() - 10 : 0; i < slots.size(); ++i)
      window.merge(slots[i]);
    return window.estimate();
  };
  for (int step = 0; step < 60'000; ++step, now += std::chrono::microseconds(400)) {
    slots.resize(static_cast<std::size_t>((now - kStart) / kSlot) + 1);
    std::string name = std::to_string(random() % (step % 2 == 0 ? 20 : 5000));
    if (step % 7 == 0) name.append(100, 'x');  // which no log takes
    recorder.record(read_of(name), now);
    slots.back().add(read_of(name).hash.value);
    if (step % 1000 == 0) recorder.summarize(now, 10);  // which rolls keys over
    if (step % 997 != 0) continue;
    ASSERT_EQ(recorder.distinct(now).estimate(), expected()) << step;
  }
  EXPECT_GT(expected(), 4000);
  EXPECT_EQ(recorder.distinct(now + seconds(20)).estimate(), 0);
}

TEST(Recorder, TotalsAreSinceItWasMade) {
  Recorder recorder({.window = seconds(1)});
  const std::string key = "a";
  for (int i = 0; i < 100; ++i) {
    Access access = read_of(key);
    access.kind = i % 4 == 0 ? AccessKind::kWrite : AccessKind::kRead;
    access.local_hit = i % 4 == 1;
    access.bytes = 10;
    record_now(recorder, access, kStart + seconds(i));
  }
  EXPECT_EQ(recorder.totals().requests, 100U);
  EXPECT_EQ(recorder.totals().writes, 25U);
  EXPECT_EQ(recorder.totals().hits, 25U);
  EXPECT_EQ(recorder.totals().bytes, 1000U);
}

TEST(Recorder, TracksTenThousandKeysInTwoAndAHalfMegabytes) {
  const Recorder whole(RecorderOptions{});
  EXPECT_LE(whole.memory_bytes(), 2'500'000u);
  EXPECT_GE(whole.keys_max(), 10'000u);
  const Recorder quarter({.memory_bytes = 625'000});
  EXPECT_LE(quarter.memory_bytes(), 625'000u);
  EXPECT_GE(quarter.keys_max(), 2'400u);
  const Recorder least({.memory_bytes = 0});
  EXPECT_LE(least.memory_bytes(), kRecorderBytesMin);
  const Recorder distinct({.memory_bytes = 0, .has_distinct = true});
  EXPECT_LE(distinct.memory_bytes(), kRecorderBytesMin);
}

TEST(Recorder, UrgentOncePerDoublingAndNotAgainWhileAbove) {
  Recorder recorder({.urgent_count = 100});
  TimePoint now = kStart;
  std::vector<int> urgent_at;
  for (int i = 1; i <= 1000; ++i) {
    if (record_now(recorder, read_of("k"), now)) urgent_at.push_back(i);
  }
  EXPECT_EQ(urgent_at, (std::vector<int>{100, 200, 400, 800}));
  // 100 per second: 1600 is passed while the thousand is still in the window; then it stays at
  // about 1000 and nothing is news.
  urgent_at.clear();
  for (int i = 1; i <= 5000; ++i) {
    now += milliseconds(10);
    if (record_now(recorder, read_of("k"), now)) urgent_at.push_back(i);
  }
  EXPECT_EQ(urgent_at, (std::vector<int>{600}));
  // After a pause longer than the window it is.
  now += seconds(20);
  int urgent = 0;
  for (int i = 1; i <= 150; ++i) urgent += record_now(recorder, read_of("k"), now) ? 1 : 0;
  EXPECT_EQ(urgent, 1);
}

TEST(Recorder, UrgencyCountsAcrossSlots) {
  Recorder recorder({.urgent_count = 100});
  int urgent_at = 0;
  for (int i = 1; i <= 150; ++i) {
    if (record_now(recorder, read_of("k"), kStart + milliseconds(40) * i)) urgent_at = i;
  }
  EXPECT_EQ(urgent_at, 100);
}

// In a busy window a level that follows the traffic is higher.
TEST(Recorder, TheUrgentLevelFollowsTheTraffic) {
  Recorder recorder({.urgent_count = {100, 0.01}});
  TimePoint now = kStart;
  for (int i = 0; i < 50'000; ++i)
    EXPECT_FALSE(record_now(recorder, read_of("k" + std::to_string(i % 1000)), now));
  now += seconds(1);
  int urgent_at = 0;
  for (int i = 1; i <= 1000 && urgent_at == 0; ++i)
    if (record_now(recorder, read_of("k"), now)) urgent_at = i;
  EXPECT_EQ(urgent_at, 500) << "1 % of what the window had when the slot began";
  now += seconds(20);  // all of that has left
  urgent_at = 0;
  for (int i = 1; i <= 1000 && urgent_at == 0; ++i)
    if (record_now(recorder, read_of("l"), now)) urgent_at = i;
  EXPECT_EQ(urgent_at, 100);
}

// So does the floor of a summary, at once.
TEST(Recorder, TheFloorOfASummaryFollowsItsTraffic) {
  Recorder recorder(RecorderOptions{});
  for (int i = 0; i < 1'000; ++i) recorder.record(read_of("busy"), kStart);
  for (int i = 0; i < 9; ++i) recorder.record(read_of("nine"), kStart);
  EXPECT_EQ(recorder.summarize(kStart, 10, {5, 0.01}).keys.size(), 1u);
  EXPECT_EQ(recorder.summarize(kStart, 10, {5, 0.008}).keys.size(), 2u);
  EXPECT_EQ(recorder.summarize(kStart, 10, {10, 0.008}).keys.size(), 1u);
}

TEST(Recorder, ACountThatHoversAtTheLevelIsUrgentOnce) {
  Recorder recorder({.urgent_count = 100});
  int urgent = 0;
  TimePoint now = kStart;
  for (int second = 0; second < 100; ++second, now += seconds(1)) {
    const int accesses = 9 + second % 3;  // the window goes up and down around 100
    for (int i = 0; i < accesses; ++i) urgent += record_now(recorder, read_of("k"), now) ? 1 : 0;
  }
  EXPECT_EQ(urgent, 1);
}

// The log holds an access back, but not for long.
TEST(Recorder, UrgencyIsToldWithinAFullLog) {
  Recorder recorder({.urgent_count = 100});
  int urgent_at = 0;
  for (int i = 1; i <= 200 && urgent_at == 0; ++i) {
    if (recorder.record(read_of("k"), kStart)) urgent_at = i;
  }
  EXPECT_GE(urgent_at, 100);
  EXPECT_LE(urgent_at, 100 + 64);
}

TEST(Recorder, WhatWaitsBelongsToTheSlotInWhichItWasSeen) {
  Recorder recorder(RecorderOptions{});
  for (int i = 0; i < 10; ++i) recorder.record(read_of("k"), kStart);
  // Shown a later time before the log is full: the ten must leave the window with their own slot.
  recorder.record(read_of("k"), kStart + seconds(9));
  EXPECT_EQ(find(recorder.summarize(kStart + seconds(9), 10), "k")->low, 11u);
  EXPECT_EQ(find(recorder.summarize(kStart + seconds(10), 10), "k")->low, 1u);
}

TEST(Recorder, TimeThatStepsBackStandsStill) {
  Recorder recorder(RecorderOptions{});
  recorder.record(read_of("k"), kStart + seconds(5));
  recorder.record(read_of("k"), kStart);
  recorder.record(read_of("k"), TimePoint{});
  const Summary summary = recorder.summarize(kStart, 10);
  EXPECT_EQ(summary.requests, 3u);
  EXPECT_EQ(find(summary, "k")->low, 3u);
}

TEST(Recorder, APauseLongerThanTheWindowClears) {
  Recorder recorder(RecorderOptions{});
  for (int i = 0; i < 100; ++i) recorder.record(read_of("k"), kStart);
  EXPECT_EQ(recorder.summarize(kStart + seconds(9), 10).requests, 100u);
  const Summary after = recorder.summarize(kStart + seconds(10), 10);
  EXPECT_EQ(after.requests, 0u);
  EXPECT_TRUE(after.keys.empty());
  EXPECT_EQ(after.absent_max, 0u);
  EXPECT_EQ(after.covered, seconds(9));  // nine whole slots; the tenth has just begun
}

TEST(Recorder, CutKeysRaiseWhatAnAbsentKeyMayHave) {
  Recorder recorder(RecorderOptions{});
  for (int key = 1; key <= 20; ++key) {
    for (int i = 0; i < key; ++i) recorder.record(read_of(std::to_string(key)), kStart);
  }
  const Summary summary = recorder.summarize(kStart, 5);
  ASSERT_EQ(summary.keys.size(), 5u);
  EXPECT_EQ(summary.keys.front().high, 20u);
  EXPECT_EQ(summary.keys.back().high, 16u);
  EXPECT_EQ(summary.absent_max, 15u);
}

TEST(Recorder, NamesAreShownWholeUpToTheLimit) {
  Recorder recorder(RecorderOptions{});
  const std::size_t sizes[] = {0, 1, 47, 48, 49, 104, 105, 500, 1024, 1025, 5000};
  for (const std::size_t size : sizes) {
    recorder.record(read_of(std::string(size, static_cast<char>('a' + size % 7))), kStart);
  }
  const Summary summary = recorder.summarize(kStart, 100);
  ASSERT_EQ(summary.keys.size(), std::size(sizes));
  for (const std::size_t size : sizes) {
    const std::string name(size, static_cast<char>('a' + size % 7));
    const KeyCount* key = find(summary, name);
    ASSERT_NE(key, nullptr);
    EXPECT_EQ(key->key, name.substr(0, kKeyBytesMax));
    EXPECT_EQ(key->key_truncated, size > kKeyBytesMax);
  }
}

// 2000 names of 1000 bytes do not fit anywhere; the busiest of them must still be shown whole.
TEST(Recorder, HotLongNamesTakeTheRoomOfColdOnes) {
  Recorder recorder(RecorderOptions{});
  TimePoint now = kStart;
  const auto name = [](int i) { return std::to_string(i) + std::string(996, 'n'); };
  for (int i = 0; i < 2000; ++i) recorder.record(read_of(name(i)), now);
  EXPECT_TRUE(find(recorder.summarize(now, 10'000), name(1990))->key_truncated);
  for (int i = 0; i < 200; ++i) {
    for (int key = 1990; key < 2000; ++key) recorder.record(read_of(name(key)), now);
  }
  const Summary summary = recorder.summarize(now, 10'000);
  for (int key = 1990; key < 2000; ++key) {
    EXPECT_EQ(find(summary, name(key))->key, name(key));
    EXPECT_FALSE(find(summary, name(key))->key_truncated);
  }
}

TEST(Recorder, SameNameInTwoDatabasesIsTwoKeys) {
  Recorder recorder(RecorderOptions{});
  Access access{in_db(hash_name("k", 7), 0), "k"};
  recorder.record(access, kStart);
  access.hash = in_db(hash_name("k", 7), 3);
  access.db = 3;
  recorder.record(access, kStart);
  const Summary summary = recorder.summarize(kStart, 10);
  ASSERT_EQ(summary.keys.size(), 2u);
  EXPECT_EQ(find(summary, access.hash)->db, 3u);
}

TEST(Recorder, TheSameStreamGivesTheSameSummary) {
  const auto run = [] {
    Recorder recorder({.memory_bytes = kRecorderBytesMin, .seed = 9});
    std::mt19937 random(5);
    for (int i = 0; i < 20'000; ++i) {
      recorder.record(read_of(std::to_string(random() % 3000)),
                      kStart + std::chrono::microseconds(100) * i);
    }
    return recorder.summarize(kStart + seconds(2), 100);
  };
  const Summary a = run(), b = run();
  ASSERT_EQ(a.keys.size(), b.keys.size());
  for (std::size_t i = 0; i < a.keys.size(); ++i) {
    EXPECT_EQ(a.keys[i].key, b.keys[i].key);
    EXPECT_EQ(a.keys[i].high, b.keys[i].high);
  }
}

}  // namespace
}  // namespace heatsink::detect
