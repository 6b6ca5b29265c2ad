// SPDX-License-Identifier: Apache-2.0
// Traffic of an attacker who wants to hide hot keys, or to make counting expensive.
#include "heatsink/detect/recorder.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "heatsink/detect/access_for_test.h"

namespace heatsink::detect {
namespace {

using std::chrono::seconds;

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

// Names of half a gigabyte: a view of them costs as much as a short name.
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
