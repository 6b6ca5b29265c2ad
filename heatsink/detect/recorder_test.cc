// SPDX-License-Identifier: Apache-2.0
#include "heatsink/detect/recorder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include "heatsink/detect/window_model.h"

namespace heatsink::detect {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr TimePoint kStart{seconds(1000)};

Access read_of(const std::string& key) { return {in_db(hash_name(key, 7), 0), key}; }

// As at the end of each turn of an event loop: nothing waits.
bool record_now(Recorder& recorder, const Access& access, TimePoint now) {
  const bool urgent = recorder.record(access, now);
  return recorder.drain(now) || urgent;
}

const KeyCount* find(const Summary& summary, KeyHash hash) {
  for (const KeyCount& key : summary.keys) {
    if (key.hash == hash) return &key;
  }
  return nullptr;
}

const KeyCount* find(const Summary& summary, const std::string& key) {
  return find(summary, read_of(key).hash);
}

void expect_totals(const Summary& summary, const ExactCount& total) {
  EXPECT_EQ(summary.requests, total.accesses());
  EXPECT_EQ(summary.reads, total.reads);
  EXPECT_EQ(summary.writes, total.writes);
  EXPECT_EQ(summary.hits, total.hits);
  EXPECT_EQ(summary.bytes, total.bytes);
}

std::uint64_t measured(const ExactCount& count, Dimension dimension) {
  switch (dimension) {
    case Dimension::kBytes:
      return count.bytes;
    case Dimension::kWrites:
      return count.writes;
    case Dimension::kMisses:
      return count.reads - count.hits;
    case Dimension::kRequests:
      break;
  }
  return count.accesses();
}

void expect_bounds_of_key(const KeyCount& key, const ExactCount& truth, Dimension dimension) {
  const std::uint64_t value = measured(truth, dimension);
  ASSERT_LE(key.low, value) << key.key;
  ASSERT_GE(key.high, value) << key.key;
  ASSERT_LE(key.reads, truth.reads);
  ASSERT_LE(key.writes, truth.writes);
  ASSERT_LE(key.hits, key.reads);
  if (dimension == Dimension::kRequests) {
    ASSERT_EQ(key.reads + key.writes, key.low);
  }
  // Bytes leave at the mean, and so do hits where bytes are measured.
  if (dimension != Dimension::kBytes) {
    ASSERT_LE(key.hits, truth.hits);
  }
}

// Every promise of a summary, for every key there is.
void expect_bounds(const Summary& summary, const WindowModel& model) {
  expect_totals(summary, model.total());
  std::unordered_map<std::uint64_t, const KeyCount*> listed;
  for (const KeyCount& key : summary.keys) {
    ASSERT_TRUE(listed.emplace(key.hash.value, &key).second);
    expect_bounds_of_key(key, model.of(key.hash), summary.dimension);
  }
  for (const auto& [hash, truth] : model.keys()) {
    if (listed.contains(hash)) continue;
    ASSERT_LE(measured(truth, summary.dimension), summary.absent_max);
  }
}

// A random access; `key` must outlive it.
Access random_access(std::mt19937_64& random, const std::string& key) {
  Access access = read_of(key);
  access.kind = random() % 4 == 0 ? AccessKind::kWrite : AccessKind::kRead;
  access.local_hit = access.kind == AccessKind::kRead && random() % 2 == 0;
  access.bytes = 100;
  return access;
}

TEST(Recorder, ExactWhileTheKeysFit) {
  for (const std::uint32_t slots : {1U, 3U, 10U}) {
    std::mt19937_64 random(slots);
    const Nanos window = milliseconds(600);
    Recorder recorder({.window = window, .slots = slots});
    WindowModel model(window, slots);
    TimePoint now = kStart;
    for (int i = 0; i < 30'000; ++i) {
      const std::string key = "key:" + std::to_string(random() % 200);
      const Access access = random_access(random, key);
      recorder.record(access, now);
      model.record(access, now);
      // Mostly small steps; now and then a pause shorter or longer than the window.
      now += Nanos(random() % 50'000);
      if (random() % 500 == 0) now += milliseconds(random() % 1000);
      if (random() % 300 != 0) continue;
      model.advance(now);
      const Summary summary = recorder.summarize(now, 1000);
      expect_totals(summary, model.total());
      ASSERT_EQ(summary.keys.size(), model.keys().size());
      for (const KeyCount& count : summary.keys) {
        const ExactCount truth = model.of(count.hash);
        ASSERT_EQ(count.low, truth.accesses());
        ASSERT_EQ(count.high, truth.accesses());
        ASSERT_EQ(count.reads, truth.reads);
        ASSERT_EQ(count.writes, truth.writes);
        ASSERT_EQ(count.hits, truth.hits);
        ASSERT_EQ(count.bytes, truth.bytes);  // all values have one size, so this is exact too
      }
    }
  }
}

// Skewed over 5000 keys, of which the popular ones change over time; some names are long.
std::string skewed_key(std::mt19937_64& random, int i) {
  const double u = static_cast<double>(random() >> 11) * 0x1p-53;
  const auto rank = static_cast<std::uint64_t>(std::pow(5000.0, u));
  const std::uint64_t number = (rank + static_cast<unsigned>(i) / 10'000 * 37) % 5000;
  return std::to_string(number) + std::string(number % 7 == 0 ? 60 : 0, 'x');
}

// Far more keys than room, window turns, pauses, drains at any time: the truth is always within
// the bounds.
TEST(Recorder, BoundsHoldTheTruthUnderEviction) {
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U}) {
    std::mt19937_64 random(seed);
    const Nanos window = milliseconds(100);
    const std::uint32_t slots = seed % 2 == 0 ? 10 : 4;
    const auto dimension = static_cast<Dimension>((seed - 1) / 2);
    Recorder recorder({.window = window,
                       .slots = slots,
                       .memory_bytes = kRecorderBytesMin,
                       .seed = seed,
                       .dimension = dimension});
    WindowModel model(window, slots);
    ASSERT_LT(recorder.keys_max(), 300u);
    TimePoint now = kStart;
    for (int i = 0; i < 60'000; ++i) {
      const std::string key = skewed_key(random, i);
      Access access = random_access(random, key);
      if (dimension == Dimension::kBytes)
        access.bytes = static_cast<std::uint32_t>(random() % (random() % 100 == 0 ? 90'000 : 300));
      recorder.record(access, now);
      model.record(access, now);
      now += Nanos(random() % 20'000);
      if (random() % 5000 == 0) now += milliseconds(random() % 150);
      if (random() % 20 == 0) {
        recorder.drain(now);
        model.advance(now);
      }
      if (random() % 500 != 0) continue;
      model.advance(now);
      const Summary summary = recorder.summarize(now, random() % 2 == 0 ? 50 : 10'000);
      ASSERT_FALSE(summary.sampled);
      expect_bounds(summary, model);
    }
  }
}

// Forty times the rate that is counted without loss.
TEST(Recorder, BoundsHoldTheTruthOfASample) {
  std::uint64_t admitted = 0;
  for (const Dimension dimension : {Dimension::kRequests, Dimension::kBytes}) {
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
      std::mt19937_64 random(seed);
      Recorder recorder({.window = seconds(1),
                         .memory_bytes = kRecorderBytesMin,
                         .seed = seed,
                         .lossless_per_second = 5'000,
                         .dimension = dimension});
      WindowModel model(seconds(1), 10);
      TimePoint now = kStart;
      bool sampled = false;
      for (int i = 0; i < 400'000; ++i, now += std::chrono::microseconds(5)) {
        const std::string key = skewed_key(random, i / 10);
        const Access access = random_access(random, key);
        recorder.record(access, now);
        model.record(access, now);
        if (random() % 10'000 != 0) continue;
        model.advance(now);
        const Summary summary = recorder.summarize(now, 10'000);
        sampled |= summary.sampled;
        expect_bounds(summary, model);
        admitted += static_cast<std::uint64_t>(
            std::count_if(summary.keys.begin(), summary.keys.end(),
                          [](const KeyCount& count) { return count.low < count.high; }));
      }
      EXPECT_TRUE(sampled);
      // The busiest key is counted one by one all the same.
      KeyHash busiest{};
      for (const auto& [hash, truth] : model.keys()) {
        if (truth.accesses() > model.of(busiest).accesses()) busiest = KeyHash{hash};
      }
      const Summary last = recorder.summarize(now, 10'000);
      const KeyCount* key = find(last, busiest);
      ASSERT_NE(key, nullptr);
      EXPECT_GE(key->low * 100, measured(model.of(busiest), dimension) * 95);
    }
  }
  EXPECT_GT(admitted, 0u);
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

// 2^32 bytes in a slot do not fit; the bound is then what all keys have together.
TEST(Recorder, ACountThatDoesNotFitHasNoFalseBound) {
  Recorder recorder({.dimension = Dimension::kBytes});
  const std::string key = "k";
  Access access = read_of(key);
  access.bytes = UINT32_MAX - 1;
  for (int i = 0; i < 5; ++i) recorder.record(access, kStart);
  const Summary summary = recorder.summarize(kStart, 10);
  EXPECT_EQ(summary.bytes, 5 * std::uint64_t{UINT32_MAX - 1});
  EXPECT_EQ(summary.keys.at(0).high, summary.bytes);
  EXPECT_EQ(summary.keys.at(0).low, UINT32_MAX);
}

TEST(Recorder, HotKeysSurviveAFloodOfAMillionDistinctKeys) {
  Recorder recorder(RecorderOptions{});
  const std::size_t memory_bytes = recorder.memory_bytes();
  TimePoint now = kStart;
  for (int i = 0; i < 1'000'000; ++i) {
    recorder.record(read_of("flood:" + std::to_string(i)), now);
    if (i % 100 == 0) recorder.record(read_of("hot:" + std::to_string(i / 100 % 20)), now);
    now += std::chrono::microseconds(9);
  }
  const Summary summary = recorder.summarize(now, 100);
  for (int i = 0; i < 20; ++i) {
    const KeyCount* key = find(summary, "hot:" + std::to_string(i));
    ASSERT_NE(key, nullptr);
    EXPECT_GE(key->low, 495u);  // of 500: a few are seen before the admission
    EXPECT_GE(key->high, 500u);
    EXPECT_EQ(key->key, "hot:" + std::to_string(i));
  }
  EXPECT_EQ(recorder.memory_bytes(), memory_bytes);
  EXPECT_LT(summary.absent_max, 200u);
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

TEST(Recorder, TracksTenThousandKeysInTwoAndAHalfMegabytes) {
  const Recorder whole(RecorderOptions{});
  EXPECT_LE(whole.memory_bytes(), 2'500'000u);
  EXPECT_GE(whole.keys_max(), 10'000u);
  const Recorder quarter({.memory_bytes = 625'000});
  EXPECT_LE(quarter.memory_bytes(), 625'000u);
  EXPECT_GE(quarter.keys_max(), 2'400u);
  const Recorder least({.memory_bytes = 0});
  EXPECT_LE(least.memory_bytes(), kRecorderBytesMin);
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

// Names of half a gigabyte: a view of them costs what a short name costs.
TEST(Recorder, AHugeNameIsNeitherCopiedNorReadWhole) {
  constexpr std::size_t kSize = 512'000'000;
  // Only its first bytes are there to be read: the rest of the view lies in no memory of ours.
  const std::string start(kKeyBytesMax, 'n');
  Recorder recorder(RecorderOptions{});
  for (int i = 0; i < 1000; ++i) {
    const Access access{.hash = KeyHash{static_cast<std::uint64_t>(i % 3) + 77},
                        .key = std::string_view(start.data(), kSize)};
    recorder.record(access, kStart);
  }
  const Summary summary = recorder.summarize(kStart, 10);
  ASSERT_EQ(summary.keys.size(), 3u);
  EXPECT_EQ(summary.keys[0].key, start);
  EXPECT_TRUE(summary.keys[0].key_truncated);
}

// Keys whose hashes agree in all that is looked at first: one bucket, one print.
TEST(Recorder, KeysThatCollideAreStillToldApart) {
  Recorder recorder(RecorderOptions{});
  const std::string name = "k";
  for (std::uint64_t round = 0; round < 100; ++round) {
    for (std::uint64_t key = 0; key < 7; ++key) {
      for (std::uint64_t i = 0; i <= key; ++i) {
        recorder.record({.hash = KeyHash{0x42 | key << 8}, .key = name}, kStart);
      }
    }
  }
  const Summary summary = recorder.summarize(kStart, 10);
  ASSERT_EQ(summary.keys.size(), 7u);
  for (std::uint64_t key = 0; key < 7; ++key) {
    EXPECT_EQ(find(summary, KeyHash{0x42 | key << 8})->low, 100 * (key + 1));
    EXPECT_EQ(find(summary, KeyHash{0x42 | key << 8})->high, 100 * (key + 1));
  }
}

TEST(Recorder, MillionsThatCollideWithAHotKeyDoNotHideIt) {
  Recorder recorder(RecorderOptions{});
  const std::string name = "k";
  for (std::uint64_t i = 0; i < 300'000; ++i) {
    recorder.record({.hash = KeyHash{0x42 | ((i + 1) << 8 & 0xFFFFFFFF)}, .key = name}, kStart);
    if (i % 10 == 0) recorder.record({.hash = KeyHash{0x42}, .key = "hot"}, kStart);
  }
  const Summary summary = recorder.summarize(kStart, 10);
  EXPECT_EQ(summary.keys.at(0).key, "hot");
  EXPECT_GE(summary.keys.at(0).high, 30'000u);
}

}  // namespace
}  // namespace heatsink::detect
