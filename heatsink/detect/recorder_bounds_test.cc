// SPDX-License-Identifier: Apache-2.0
// Whatever comes in whatever order: the truth lies within the bounds.
#include "heatsink/detect/recorder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <unordered_map>

#include "heatsink/detect/access_for_test.h"
#include "heatsink/detect/testing/window_model.h"

namespace heatsink::detect {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

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

// 2^32 bytes in a slot do not fit; the bound is then the sum of all keys.
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

}  // namespace
}  // namespace heatsink::detect
